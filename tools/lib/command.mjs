// Runs one command to its end: its output goes to a log file, or straight to the console.
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { endGroup } from './processes.mjs';

/** A sentence for the person at the console; shown without a stack. */
export class Complaint extends Error {}

/**
 * Does the work of a script; a complaint is said, and the script fails.
 * @param {() => Promise<void> | void} work
 */
export async function orComplain(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/**
 * @typedef {object} CommandOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [log] file for the output; without it the command writes to our console
 * @property {AbortSignal} [signal] stops the command and all it started
 */

/**
 * Runs a command in its own process group, so that a stop reaches its children as well.
 * @param {string} command
 * @param {string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<number>} its exit code; 127 when it cannot be started, 1 when a signal ended it
 */
export async function run(command, args, options = {}) {
  options.signal?.throwIfAborted();
  const out = options.log ? openLog(options.log) : undefined;
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', out ? 'pipe' : 'inherit', out ? 'pipe' : 'inherit'],
    detached: true,
  });
  if (out) {
    child.stdout?.pipe(out, { end: false });
    child.stderr?.pipe(out, { end: false });
  }
  /** @type {Promise<void> | undefined} */
  let stopped;
  const stopIt = () => (stopped = child.pid === undefined ? undefined : endGroup(child.pid, 3000));
  options.signal?.addEventListener('abort', stopIt, { once: true });
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (exitCode) => resolve(exitCode ?? 1));
    // Whoever ended up outside the group may keep the pipe open: a stop does not wait for it.
    child.once('exit', () => options.signal?.aborted && resolve(1));
  });
  options.signal?.removeEventListener('abort', stopIt);
  await stopped;
  if (out) await new Promise((resolve) => out.end(resolve));
  options.signal?.throwIfAborted();
  return code;
}

/**
 * As `run` into a log file, but a failure is a Complaint with the last lines of that file.
 * @param {string} what for the message: "Installing packages"
 * @param {string} command
 * @param {string[]} args
 * @param {CommandOptions & { log: string }} options
 */
export async function runOrComplain(what, command, args, options) {
  const code = await run(command, args, options);
  if (code === 0) return;
  if (code === 127) throw new Complaint(`${what} failed: ${command} is not installed.`);
  throw new Complaint(
    `${what} failed (exit code ${code}). Last lines of ${options.log}:\n${lastLines(options.log)}`,
  );
}

/**
 * @param {string} file
 * @param {number} [count]
 */
export function lastLines(file, count = 20) {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
}

/** @param {string} file */
function openLog(file) {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  return createWriteStream(file, { flags: 'w', mode: 0o600 });
}
