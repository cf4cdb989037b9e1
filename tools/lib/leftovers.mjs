// FLOWLY_HOME/run holds one record a running child, so that the next start can end what a killed
// start left behind.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { endGroup, isAlive } from './processes.mjs';

/** @typedef {import('./processes.mjs').ProcessId} ProcessId */

/**
 * @param {string} home
 * @param {string} name
 * @param {ProcessId} id
 */
export function remember(home, name, id) {
  mkdirSync(path.join(home, 'run'), { recursive: true, mode: 0o700 });
  writeFileSync(recordOf(home, name), JSON.stringify(id));
}

/**
 * @param {string} home
 * @param {string} name
 */
export function forget(home, name) {
  rmSync(recordOf(home, name), { force: true });
}

/**
 * Ends what an earlier start left running in this folder: services first, Redis last.
 * @param {string} home
 * @param {(name: string) => void} onFound
 */
export async function endLeftovers(home, onFound) {
  const names = namesIn(path.join(home, 'run'));
  const services = names.filter((name) => name !== 'redis');
  const end = async (/** @type {string} */ name) => {
    const id = readRecord(recordOf(home, name));
    if (id && isAlive(id)) {
      onFound(name);
      await endGroup(id.pid, 9000);
    }
    forget(home, name);
  };
  await Promise.all(services.map(end));
  if (names.includes('redis')) await end('redis');
}

/**
 * What an earlier start left running in this folder.
 * @param {string} home
 */
export function livingLeftovers(home) {
  return namesIn(path.join(home, 'run')).filter((name) => {
    const id = readRecord(recordOf(home, name));
    return id !== undefined && isAlive(id);
  });
}

/** @param {string} folder */
function namesIn(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return readdirSync(folder).map((file) => path.basename(file, '.json'));
}

/**
 * @param {string} file
 * @returns {ProcessId | undefined} undefined when a crash cut it off
 */
function readRecord(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * @param {string} home
 * @param {string} name
 */
function recordOf(home, name) {
  return path.join(home, 'run', `${name}.json`);
}
