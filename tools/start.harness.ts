// Runs `tools/start.mjs` against fake services, in folders of its own.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@flowly/testing';

const WORKER = 'setInterval(() => undefined, 1000);';

/** Answers `/ready` with 503 at first, and writes down the environment it was given. */
const GATEWAY = `
  let asked = 0;
  require('node:fs').writeFileSync(process.env.FLOWLY_HOME + '/env.json', JSON.stringify(process.env));
  require('node:http')
    .createServer((_, response) => {
      response.statusCode = (asked += 1) > 2 ? 200 : 503;
      response.end('{"status":"fake"}');
    })
    .listen(Number(process.env.FLOWLY_GATEWAY_PORT), '127.0.0.1');`;

export type FakeApps = Partial<Record<'gateway' | 'bot-runner' | 'group-orchestrator', string>>;

/** One run of the script. */
export interface Start {
  readonly child: ChildProcess;
  /** What it printed so far, both streams. */
  output(): string;
  /** Resolves when the output matches; throws with the output when the script ends before. */
  says(pattern: RegExp): Promise<void>;
  /** Resolves with the exit code when the script has ended. */
  readonly exit: Promise<number | null>;
}

/** A data folder, fake services and a free port. */
export class Bench {
  readonly #starts: Start[] = [];
  readonly home = mkdtempSync(path.join(os.tmpdir(), 'flowly-start-'));
  readonly #dist = path.join(this.home, 'dist');

  private constructor(
    readonly port: number,
    apps: FakeApps,
  ) {
    const scripts = { gateway: GATEWAY, 'bot-runner': WORKER, 'group-orchestrator': WORKER };
    for (const [name, script] of Object.entries({ ...scripts, ...apps })) {
      mkdirSync(path.join(this.#dist, name), { recursive: true });
      writeFileSync(path.join(this.#dist, name, 'main.js'), script);
    }
  }

  static async make(apps: FakeApps = {}): Promise<Bench> {
    return new Bench(await freePort(), apps);
  }

  start(env: Record<string, string> = {}): Start {
    const { REDIS_URL: _callers, ...inherited } = process.env;
    const child = spawn(process.execPath, [path.join(__dirname, 'start.mjs')], {
      env: {
        ...inherited,
        FLOWLY_HOME: this.home,
        FLOWLY_DIST: this.#dist,
        FLOWLY_GATEWAY_PORT: String(this.port),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
    const says = async (pattern: RegExp) => {
      while (!pattern.test(output)) {
        if (child.exitCode !== null) throw new Error(`It ended and said:\n${output}`);
        await sleep(20);
      }
    };
    const start = { child, output: () => output, says, exit };
    this.#starts.push(start);
    return start;
  }

  /** Pids of the children that the script has written down. */
  children(): number[] {
    const folder = path.join(this.home, 'run');
    return readdirSync(folder).map(
      (file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')).pid,
    );
  }

  /** The environment that the fake gateway was given. */
  serviceEnv(): Record<string, string> {
    return JSON.parse(readFileSync(path.join(this.home, 'env.json'), 'utf8'));
  }

  /** Ends what still runs and removes the folder. */
  async clean(): Promise<void> {
    for (const { child, exit } of this.#starts) {
      child.kill('SIGTERM');
      await exit;
    }
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** True while the process runs; a zombie does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
