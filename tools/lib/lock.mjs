// One start per data folder: FLOWLY_HOME/start.lock names the process that holds it.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { identify, isAlive } from './processes.mjs';

/** @typedef {import('./processes.mjs').ProcessId} ProcessId */

/**
 * Takes the lock of a data folder. A lock whose process has ended is taken over.
 * @param {string} home
 * @returns {{ heldBy: number } | { release: () => void }} the pid of the holder, or the lock
 */
export function lockHome(home) {
  const file = path.join(home, 'start.lock');
  const own = path.join(home, `start.lock.${process.pid}`);
  const me = identify(process.pid);
  writeFileSync(own, JSON.stringify(me));
  try {
    for (;;) {
      if (linked(own, file)) return { release: () => rmSync(file, { force: true }) };
      const holder = readHolder(file);
      if (holder && isAlive(holder)) return { heldBy: holder.pid };
      removeStale(file, holder);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * A hard link is an exclusive create that shows its whole content at once.
 * @param {string} from
 * @param {string} to
 */
function linked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Another start may have replaced the stale lock since we read it: what we moved away is looked at
 * again, and put back if it is alive.
 * @param {string} file
 * @param {ProcessId | undefined} seen
 */
function removeStale(file, seen) {
  const moved = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, moved);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const holder = readHolder(moved);
  if (holder && holder.pid !== seen?.pid && isAlive(holder)) linked(moved, file);
  rmSync(moved, { force: true });
}

/**
 * @param {string} file
 * @returns {ProcessId | undefined} undefined when the file is gone or is not ours
 */
function readHolder(file) {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && typeof started === 'string' ? { pid, started } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
