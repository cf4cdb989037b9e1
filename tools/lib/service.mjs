// A long-running child process: its log file, its record on disk, and its restarts.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { forget, remember } from './leftovers.mjs';
import { LogFile } from './log-file.mjs';
import { endGroup, identify } from './processes.mjs';

/**
 * @typedef {object} ServiceSpec
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [input] for its standard input
 */

/**
 * @typedef {object} Watcher
 * @property {(line: string) => void} say tells the person at the console
 * @property {(service: Service) => void} giveUp called when it cannot be brought up
 */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const STEADY_AFTER_MS = 60_000;
const TRIES_AT_START = 3;
const LINES_KEPT = 20;

export class Service {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child;
  /** @type {Promise<void> | undefined} */
  #over;
  /** @type {NodeJS.Timeout | undefined} */
  #pause;
  #failures = 0;
  #stopping = false;
  #settled = false;
  #log;

  /** @type {string[]} */
  lastLines = [];

  /**
   * @param {ServiceSpec} spec
   * @param {string} home data folder
   * @param {Watcher} watcher
   */
  constructor(spec, home, watcher) {
    this.spec = spec;
    this.home = home;
    this.watcher = watcher;
    this.logFile = path.join(home, 'logs', `${spec.name}.log`);
    mkdirSync(path.dirname(this.logFile), { recursive: true, mode: 0o700 });
    this.#log = new LogFile(this.logFile);
  }

  start() {
    const { name, command, args, cwd, env, input } = this.spec;
    const startedAt = Date.now();
    // Its own group: Ctrl-C in the terminal reaches us alone, and we end all in order.
    const child = spawn(command, args, { cwd, env: env ?? process.env, detached: true });
    this.#child = child;
    child.stdin.on('error', () => undefined); // it ended before it read; its exit tells more
    child.stdin.end(input ?? '');
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) =>
        this.#takeLine(line, stream === child.stderr),
      );
    }
    const id = child.pid === undefined ? undefined : identify(child.pid);
    if (id) remember(this.home, name, id);
    child.once('error', (error) => this.#takeLine(error.message, true));
    this.#over = endOf(child).then((how) => {
      this.#child = undefined;
      forget(this.home, name);
      if (!this.#stopping) this.#repair(how, Date.now() - startedAt);
    });
  }

  /** From now on an end is an accident to be repaired, not a failed start. */
  settle() {
    this.#settled = true;
    this.#failures = 0;
  }

  /** @param {number} patienceMs after which it is killed */
  async stop(patienceMs) {
    this.#stopping = true;
    clearTimeout(this.#pause);
    if (this.#child?.pid !== undefined) await endGroup(this.#child.pid, patienceMs);
    await this.#over;
    await this.#log.close();
  }

  /**
   * @param {string} how
   * @param {number} livedMs
   */
  #repair(how, livedMs) {
    this.#failures = livedMs > STEADY_AFTER_MS ? 1 : this.#failures + 1;
    if (!this.#settled && this.#failures >= TRIES_AT_START) {
      this.watcher.giveUp(this);
      return;
    }
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
    this.watcher.say(
      `${this.spec.name} ended by itself (${how}); starting it again in ${pauseMs / 1000} s.`,
    );
    this.#pause = setTimeout(() => this.start(), pauseMs);
  }

  /**
   * @param {string} line
   * @param {boolean} isError
   */
  #takeLine(line, isError) {
    this.#log.write(line);
    this.lastLines = [...this.lastLines, line].slice(-LINES_KEPT);
    const shown = worthShowing(line, isError);
    if (shown) this.watcher.say(`[${this.spec.name}] ${shown}`);
  }
}

/**
 * Waits for the end of a process and of its output; half a second at most for the output, since
 * a child of its own may hold the pipe open.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<string>} how it ended
 */
function endOf(child) {
  return new Promise((resolve) => {
    const describe = (/** @type {number | null} */ code, /** @type {string | null} */ signal) =>
      signal ?? `exit code ${code}`;
    child.once('close', (code, signal) => resolve(describe(code, signal)));
    child.once('exit', (code, signal) => setTimeout(resolve, 500, describe(code, signal)));
  });
}

/**
 * Services log JSON lines with pino's levels: warnings and errors are shown, as is whatever comes
 * over standard error in plain text.
 * @param {string} line
 * @param {boolean} isError
 */
function worthShowing(line, isError) {
  if (!line.startsWith('{')) return isError ? line : undefined;
  try {
    const { level, msg, err } = JSON.parse(line);
    if (!(level >= 40)) return undefined;
    const cause = err?.message && err.message !== msg ? ` (${err.message})` : '';
    return `${level >= 50 ? 'error' : 'warning'}: ${msg ?? ''}${cause}`;
  } catch {
    return isError ? line : undefined;
  }
}
