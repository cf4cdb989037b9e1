import { writeSync } from 'node:fs';
import { botPoints, faultPoints, type FaultPoint } from './points';

/** What a process does to itself: `kill` is SIGKILL, `stop` is SIGSTOP until somebody sends SIGCONT. */
const signals = { kill: 'SIGKILL', stop: 'SIGSTOP' } as const;
type Signal = (typeof signals)[keyof typeof signals];

interface Fault {
  signal: Signal;
  point: FaultPoint;
  /** How many more passes it takes. */
  passes: number;
}

const STDERR = 2;
const FAULT = /^(?<deed>\w+) (?<point>[\w-]+)(?: (?<pass>[1-9]\d*))?$/;

/**
 * The faults that the environment asks for: `FLOWLY_FAULTS` is a list such as `stop service-starts, kill committed 3`,
 * where the number says at the how many-th pass (1 when it is missing).
 */
export class Faults {
  private constructor(
    private readonly faults: readonly Fault[],
    private readonly send: (signal: Signal, point: FaultPoint) => unknown,
  ) {}

  /** @throws Error that names what it cannot read */
  static of(environment: NodeJS.ProcessEnv, send = toItself): Faults {
    const asked = (environment['FLOWLY_FAULTS'] ?? '').split(',').map((text) => text.trim());
    return new Faults(asked.filter((text) => text !== '').map(readFault), send);
  }

  pass(point: FaultPoint): void {
    for (const fault of this.faults) {
      if (fault.point !== point || --fault.passes !== 0) continue;
      this.send(fault.signal, point);
    }
  }
}

/** Either signal has taken effect when this would return: the kernel hands it to the main thread, which sends it. */
function toItself(signal: Signal, point: FaultPoint): unknown {
  writeSync(STDERR, `${signal} at ${point}\n`);
  return process.kill(process.pid, signal);
}

function readFault(text: string): Fault {
  const { deed = '', point = '', pass = '1' } = FAULT.exec(text)?.groups ?? {};
  const known = [...faultPoints, ...botPoints].find((each) => each === point);
  if ((deed !== 'kill' && deed !== 'stop') || known === undefined)
    throw new Error(`FLOWLY_FAULTS: there is no "${text}".`);
  return { signal: signals[deed], point: known, passes: Number(pass) };
}
