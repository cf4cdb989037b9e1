// Redis of an installation: the one of REDIS_URL, or a private server inside the data folder.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Complaint } from './command.mjs';
import { freePort } from './free-port.mjs';
import { ping } from './resp.mjs';
import { until } from './wait.mjs';

/**
 * @param {string} url
 * @throws {Complaint} when it does not answer
 */
export async function checkRedis(url) {
  if (!URL.canParse(url) || !/^rediss?:$/.test(new URL(url).protocol)) {
    throw new Complaint('REDIS_URL must look like redis://[user:password@]host:port.');
  }
  const answer = await ping(url);
  if (answer === 'PONG') return;
  throw new Complaint(`The Redis of REDIS_URL (${new URL(url).host}) does not answer: ${answer}`);
}

/**
 * Describes the private server: on loopback, its data and password in `home`/redis. The settings
 * go in by standard input, so that the password is in no process list and in one file only.
 * @param {string} home
 * @returns {Promise<{ url: string, spec: import('./service.mjs').ServiceSpec }>}
 */
export async function privateRedis(home) {
  const folder = path.join(home, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const password = readPassword(path.join(folder, 'password'));
  const port = await freePort();
  const settings = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
  ];
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    spec: {
      name: 'redis',
      command: 'redis-server',
      args: ['-'],
      cwd: folder,
      input: `${settings.join('\n')}\n`,
    },
  };
}

/**
 * Starts the private server and waits until its data is loaded.
 * @param {import('./service.mjs').Service} server
 * @param {string} url
 * @param {AbortSignal} [signal]
 */
export async function startPrivateRedis(server, url, signal) {
  server.start();
  await until(async () => (await ping(url)) === 'PONG', { timeoutMs: 120_000, signal });
}

/** @param {string} file */
function readPassword(file) {
  const stored = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (/^[0-9a-f]{64}$/.test(stored)) return stored;
  const password = randomBytes(32).toString('hex');
  writeFileSync(file, password, { mode: 0o600 });
  return password;
}
