import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { until, type System } from '@flowly/testing';

const ROOT = path.join(__dirname, '../..');
/** As the services of tests: with what was compiled of it before, since it is started dozens of times. */
const PROGRAM = [
  '--require',
  path.join(ROOT, 'libs/testing/src/system/code-cache.js'),
  path.join(ROOT, 'dist/apps/cli/main.js'),
];

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** The built command line as a process, as a person or a script would run it. */
export class Flowly {
  /** All that any of them wrote, and how each was called. */
  written = '';
  readonly #started: RunningFlowly[] = [];

  constructor(private readonly system: () => System) {}

  /** Runs a command to its end. @param input what is piped in; without it nothing is */
  async run(args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const running = this.start(args, env);
    running.child.stdin.end(input);
    return running.ended;
  }

  /** The one JSON document that a command writes. */
  async json(args: readonly string[], input?: string): Promise<Record<string, unknown>> {
    const { code, out, err } = await this.run([...args, '--json'], input);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`);
    return JSON.parse(out);
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningFlowly {
    return this.spawn(process.execPath, [...PROGRAM, ...args], env);
  }

  /** At a terminal of its own. */
  atTerminal(args: readonly string[]): RunningFlowly {
    const command = [process.execPath, ...PROGRAM, ...args].map((word) => `'${word}'`).join(' ');
    return this.spawn('script', ['-qfec', command, '/dev/null'], { TERM: 'xterm' });
  }

  /** Ends what a failed test left. */
  endAll(): void {
    for (const { child } of this.#started) child.kill('SIGTERM');
  }

  private spawn(command: string, args: string[], env: NodeJS.ProcessEnv): RunningFlowly {
    this.written += `${args.join(' ')}\n`;
    const { home, url, redis } = this.system();
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('FLOWLY_'));
    const settings = { FLOWLY_HOME: home, FLOWLY_GATEWAY_URL: url, REDIS_URL: redis.url };
    const child = spawn(command, args, {
      env: { ...Object.fromEntries(own), ...settings, ...env },
    });
    const running = new RunningFlowly(child, (text) => (this.written += text));
    this.#started.push(running);
    return running;
  }
}

export class RunningFlowly {
  out = '';
  err = '';
  readonly ended: Promise<Ended>;

  constructor(
    readonly child: ChildProcessWithoutNullStreams,
    record: (text: string) => void,
  ) {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
      record(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
      record(text);
    });
    // It may have ended before it has read everything.
    child.stdin.on('error', () => undefined);
    this.ended = once(child, 'close').then(([code]) => ({ code, out: this.out, err: this.err }));
  }

  /** Waits until it has written this; `from` on, where it matters. */
  async says(text: string, from = 0): Promise<void> {
    await until(
      () => (this.out + this.err).slice(from).includes(text),
      10_000,
      () => `“${text}” is not among: ${this.out}${this.err}`,
    );
  }
}
