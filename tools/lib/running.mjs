// Which services of a data folder run, however they were started.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { livingLeftovers } from './leftovers.mjs';
import { ping } from './resp.mjs';

/** @typedef {Pick<import('./libraries.mjs').Libraries, 'BusKeys' | 'connectRedis' | 'readHeartbeats'>} BusParts */

/**
 * @param {string} home
 * @param {NodeJS.ProcessEnv} env
 * @param {BusParts} libraries
 * @param {(line: string) => void} say
 * @returns {Promise<string[]>} their names
 */
export async function runningServices(home, env, libraries, say) {
  const hostId = env['FLOWLY_HOST_ID'] || storedHostId(home);
  const left = livingLeftovers(home).filter((name) => name !== 'redis');
  if (!env['REDIS_URL'] || !hostId) return left;
  const answer = await ping(env['REDIS_URL']);
  if (answer === 'PONG') return [...left, ...(await beating(env['REDIS_URL'], hostId, libraries))];
  say(
    `The Redis of REDIS_URL does not answer (${answer}): whether services run is seen by the file alone.`,
  );
  return left;
}

/**
 * @param {string} url
 * @param {string} hostId
 * @param {BusParts} libraries
 */
async function beating(url, hostId, { BusKeys, connectRedis, readHeartbeats }) {
  const redis = connectRedis(url, 'restore');
  try {
    const beats = await readHeartbeats(redis, new BusKeys(hostId));
    return beats.map(({ service, instance }) => `${service} ${instance}`);
  } finally {
    redis.disconnect();
  }
}

/** @param {string} home */
function storedHostId(home) {
  const file = path.join(home, 'profile-host.json');
  return existsSync(file) ? String(JSON.parse(readFileSync(file, 'utf8')).hostId) : undefined;
}
