import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';
import { ChildPrograms } from './child-programs';

/** Test code: processes that open a group store, and die at a step of it if they are told to. */

const BEGUN = 'begun';
const stepsSchema = z.array(z.string());

/** `<home> <n>`: opens the store of a data folder and closes it; dies after its n-th writing step, if n is not 0. */
const PROGRAM = `
import { isWrite, onEveryStep } from './every-step';
import { openGroupStore } from './open';
const [home, mortal] = process.argv.slice(2);
const steps = [];
onEveryStep({
  after(step) {
    if (isWrite(step) && steps.push(step) === Number(mortal)) process.kill(process.pid, 'SIGKILL');
  },
});
process.stdout.write('${BEGUN}');
void (async () => {
  const store = await openGroupStore({ home, busyMs: 10_000 });
  store.close();
  process.stdout.write(JSON.stringify(steps));
})();
`;

/** What became of a process. */
export interface Ended {
  /** SIGKILL, or null for one that ended by itself. */
  signal: NodeJS.Signals | null;
  code: number | null;
  /** The writing steps it took, if it came to the end. */
  steps: string[];
}

export class StoreOpener {
  private readonly programs: ChildPrograms;

  constructor(folder: string) {
    this.programs = new ChildPrograms(PROGRAM, join(folder, 'opener.cjs'));
  }

  /** Opens the store of a data folder in a process of its own, which dies after this many writing steps. */
  async open(home: string, mortal = 0): Promise<Ended> {
    return (await this.begin(home, mortal)).ended;
  }

  /** As {@link open}, from the moment it begins. */
  async begin(home: string, mortal = 0): Promise<{ child: ChildProcess; ended: Promise<Ended> }> {
    const child = this.programs.start(home, String(mortal));
    let said = '';
    const begun = new Promise((resolve) => {
      child.stdout?.setEncoding('utf8').on('data', (text: string) => resolve((said += text)));
    });
    const ended = once(child, 'close').then((): Ended => {
      const { signalCode: signal, exitCode: code } = child;
      const steps: unknown = JSON.parse(said.slice(BEGUN.length) || '[]');
      return { signal, code, steps: stepsSchema.parse(steps) };
    });
    await Promise.race([begun, ended]);
    return { child, ended };
  }

  /** Leaves no process behind. */
  end(): Promise<void> {
    return this.programs.end();
  }
}

/** The numbers of the first steps, up to `last`. */
export function stepsTo(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1);
}

/** Runs the work for each item, two at a time: as many as the machine has processors. */
export async function twoAtATime<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const take = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([take(), take()]);
}
