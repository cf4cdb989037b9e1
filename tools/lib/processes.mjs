// Processes by pid: is this the one we started, and how to end it with all it started.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A pid alone is not a name: the system gives it to another process later.
 * @typedef {{ pid: number, started: string }} ProcessId
 */

/**
 * @param {number} pid
 * @returns {ProcessId | undefined} undefined when no such process runs
 */
export function identify(pid) {
  const started = existsSync('/proc/self/stat') ? startOnLinux(pid) : startByPs(pid);
  return started ? { pid, started } : undefined;
}

/** @param {ProcessId} id */
export function isAlive(id) {
  return identify(id.pid)?.started === id.started;
}

/** @param {number} pid */
function startOnLinux(pid) {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // no such process
  }
  // The name in brackets may hold spaces; behind it come the state (field 3) … start time (22).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[19];
}

/** @param {number} pid */
function startByPs(pid) {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined; // ps exits with 1 when there is no such process
  }
}

/**
 * Ends a process group: SIGTERM for all, SIGKILL for whoever is left once the leader has ended or
 * the patience is over.
 * @param {number} pid leader of the group
 * @param {number} patienceMs
 */
export async function endGroup(pid, patienceMs) {
  const deadline = Date.now() + patienceMs;
  signalGroup(pid, 'SIGTERM');
  while (identify(pid) && Date.now() < deadline) await sleep(25);
  signalGroup(pid, 'SIGKILL');
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: nobody is left. EPERM: macOS says so of a group of zombies.
    if (!/ESRCH|EPERM/.test(String(error))) throw error;
  }
}
