import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const services = ['gateway', 'bot-runner', 'group-orchestrator'] as const;
export type ServiceName = (typeof services)[number];

/** One process of a service; it can die and be started again. */
export interface ServiceInstance {
  readonly name: ServiceName;
  /** `name`, or `name#2` and so on for further instances. */
  readonly label: string;
  /** Where a gateway listens; empty for workers. */
  readonly url: string;
  readonly pid: number | undefined;
  readonly running: boolean;
  /** Resolves when it has ended, however it did. */
  readonly gone: Promise<void>;
  /** Everything it has printed so far, over all its lives. */
  readonly stdout: string;
  /** Ends it with this signal (default SIGKILL) and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it if it does not run; does not wait until it is ready. */
  start(): void;
  /** `kill('SIGKILL')`, then `start()`. */
  restart(): Promise<void>;
  /** Freezes it (SIGSTOP) as a machine that is out of breath would, until `resume`. */
  pause(): void;
  resume(): void;
}

export interface LifeOptions {
  /** Further environment. */
  env?: NodeJS.ProcessEnv;
  /** Which folder of builds it is started from; default `dist`. */
  build?: 'dist' | 'dist/faults';
  /** It is no accident when it ends by itself. */
  mortal?: boolean;
  /** A command that starts it, and becomes it: `exec` with other rights, say. */
  launcher?: readonly string[];
}

/** A service must have ended this long after SIGTERM. */
const TERM_PATIENCE_MS = 10_000;

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

export class ServiceProcess implements ServiceInstance {
  /** How it ended without having been told to; undefined when it never did. */
  accident: string | undefined;
  #child: ChildProcess | undefined;
  #gone: Promise<void> = Promise.resolve();
  #expected = false;
  readonly #printed: string[] = [];

  constructor(
    readonly name: ServiceName,
    readonly label: string,
    readonly url: string,
    private readonly root: string,
    private readonly env: NodeJS.ProcessEnv,
    private readonly options: LifeOptions = {},
  ) {}

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  get gone(): Promise<void> {
    return this.#gone;
  }

  get stdout(): string {
    return this.#printed.join('');
  }

  start(): void {
    if (this.#child !== undefined) return;
    const { build = 'dist', env, mortal = false, launcher = [] } = this.options;
    const main = path.join(this.root, build, 'apps', this.name, 'main.js');
    const codeCache = path.join(this.root, 'libs', 'testing', 'src', 'system', 'code-cache.js');
    const [command, ...args] = [...launcher, process.execPath, '--require', codeCache, main];
    if (command === undefined) return;
    const child = spawn(command, args, {
      cwd: this.root,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#expected = mortal;
    living.add(child);
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding('utf8').on('data', (text: string) => this.#printed.push(text));
    }
    this.#gone = new Promise((resolve) => {
      child.once('error', (error) => this.#printed.push(`${error.message}\n`));
      child.once('close', (code, signal) => {
        living.delete(child);
        this.#child = undefined;
        if (!this.#expected) this.accident = `${this.label} ended by itself (${signal ?? code})`;
        resolve();
      });
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#expected = true;
    this.#child?.kill(signal);
    await this.#gone;
  }

  async restart(): Promise<void> {
    await this.kill();
    this.start();
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** SIGTERM, and SIGKILL for what does not listen. @returns whether it ended in time */
  async terminate(): Promise<boolean> {
    const patience = new AbortController();
    const late = sleep(TERM_PATIENCE_MS, 'late', { signal: patience.signal }).catch(() => 'ended');
    const ended = this.kill('SIGTERM').then(() => 'ended');
    const outcome = await Promise.race([ended, late]);
    patience.abort();
    if (outcome === 'late') await this.kill();
    return outcome === 'ended';
  }
}
