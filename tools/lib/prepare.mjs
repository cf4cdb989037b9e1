// What a start and a test run need first: packages and a redis-server. Needs no package itself.
import path from 'node:path';
import { Complaint } from './command.mjs';
import { installPackages, packagesInstalled } from './packages.mjs';
import { ROOT } from './paths.mjs';
import { hasRedisServer, installRedisServer } from './redis-binary.mjs';

/** @typedef {{ logs: string, signal: AbortSignal, say: (line: string) => void }} Surroundings */

/** @throws {Complaint} */
export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Complaint(`Node 20.19 or newer is needed; this is ${process.versions.node}.`);
}

/** @param {Surroundings} surroundings */
export async function preparePackages({ logs, signal, say }) {
  if (packagesInstalled(ROOT)) return;
  await telling(say, 'Installing packages (about two minutes)', () =>
    installPackages(ROOT, { log: path.join(logs, 'install.log'), signal }),
  );
}

/** @param {Surroundings} surroundings */
export async function prepareRedisServer({ logs, signal, say }) {
  if (hasRedisServer()) return;
  await telling(say, 'Installing Redis', () =>
    installRedisServer({ log: path.join(logs, 'install-redis.log'), signal }),
  );
}

/**
 * Says what is being done, and every 15 s that it goes on.
 * @template T
 * @param {(line: string) => void} say
 * @param {string} what
 * @param {() => Promise<T>} work
 */
export async function telling(say, what, work) {
  say(`${what} …`);
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  const reminder = setInterval(() => say(`  still at it (${seconds()} s)`), 15_000);
  try {
    return await work();
  } finally {
    clearInterval(reminder);
  }
}
