// `npm start`: installs, provides Redis, builds, runs the three services until Ctrl-C.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { gatewayAddress } from './lib/address.mjs';
import { Complaint, runOrComplain } from './lib/command.mjs';
import { Installation } from './lib/installation.mjs';
import { endLeftovers } from './lib/leftovers.mjs';
import { lockHome } from './lib/lock.mjs';
import { NX, nxEnv } from './lib/nx.mjs';
import { APPS, flowlyHome, ROOT } from './lib/paths.mjs';
import { checkNode, preparePackages, prepareRedisServer, telling } from './lib/prepare.mjs';
import { stopOnSignals } from './lib/signals.mjs';
import { untilReady } from './lib/wait.mjs';

const { env } = process;
const home = flowlyHome(env);
const logs = path.join(home, 'logs');
const host = env.FLOWLY_GATEWAY_HOST || '127.0.0.1';
const port = Number(env.FLOWLY_GATEWAY_PORT || 18790);
const address = gatewayAddress(env);
const builtByTest = env.FLOWLY_DIST; // the tests of this script bring services of their own

const say = (/** @type {string} */ line) => console.log(line);
const stop = stopOnSignals(say);

try {
  checkNode();
  checkPort();
  const lock = takeLock();
  try {
    await runUntilStopped();
  } finally {
    lock.release();
  }
} catch (error) {
  if (!(error instanceof Complaint)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}

async function runUntilStopped() {
  const failure = new AbortController();
  const signal = AbortSignal.any([stop.signal, failure.signal]);
  const installation = new Installation({
    home,
    dist: builtByTest ?? path.join(ROOT, 'dist', 'apps'),
    env,
    say,
    giveUp: (complaint) => failure.abort(complaint),
  });
  try {
    await bringUp(installation, signal);
    if (!signal.aborted) await once(signal, 'abort');
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await installation.stop();
  }
  if (failure.signal.aborted) throw failure.signal.reason;
  say('Stopped.');
}

/**
 * @param {Installation} installation
 * @param {AbortSignal} signal
 */
async function bringUp(installation, signal) {
  const surroundings = { logs, signal, say };
  await endLeftovers(home, (name) => say(`Ending ${name}, left behind by an earlier start …`));
  await complainIfPortIsTaken();
  if (!builtByTest) {
    await preparePackages(surroundings);
    await build(signal);
  }
  if (!env.REDIS_URL) await prepareRedisServer(surroundings);
  await telling(say, env.REDIS_URL ? 'Asking the Redis of REDIS_URL' : 'Starting Redis', () =>
    installation.startRedis(signal),
  );
  signal.throwIfAborted();
  installation.startServices();
  await telling(say, 'Starting the services', () =>
    untilReady(address, { timeoutMs: 120_000, signal }),
  );
  installation.settle();
  sayReady();
}

/** @param {AbortSignal} signal */
async function build(signal) {
  const args = [NX, 'run-many', '-t', 'build', '-p', APPS.join(',')];
  const options = { cwd: ROOT, env: nxEnv(env), log: path.join(logs, 'build.log'), signal };
  await telling(say, 'Building (half a minute when something changed)', () =>
    runOrComplain('The build', process.execPath, args, options),
  );
}

function takeLock() {
  try {
    mkdirSync(logs, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Complaint(
      `Cannot use FLOWLY_HOME ${home}: ${error instanceof Error && error.message}`,
    );
  }
  const lock = lockHome(home);
  if ('release' in lock) return lock;
  throw new Complaint(`Flowly already runs on ${home} (process ${lock.heldBy}). Stop it first.`);
}

function checkPort() {
  if (Number.isInteger(port) && port > 0 && port < 65_536) return;
  throw new Complaint(`FLOWLY_GATEWAY_PORT must be 1 to 65535, not ${env.FLOWLY_GATEWAY_PORT}.`);
}

async function complainIfPortIsTaken() {
  const problem = await new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', (error) => resolve('code' in error ? error.code : error.message));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
  if (!problem) return;
  throw new Complaint(
    problem === 'EADDRINUSE'
      ? `Port ${port} on ${host} is used by another program: end it, or set FLOWLY_GATEWAY_PORT.`
      : `The gateway cannot listen on ${host}:${port} (${problem}).`,
  );
}

function sayReady() {
  const settings = ['FLOWLY_HOME', 'FLOWLY_GATEWAY_HOST', 'FLOWLY_GATEWAY_PORT']
    .filter((name) => env[name])
    .map((name) => `${name}=${env[name]} `);
  say(
    [
      '',
      `Flowly is ready: ${address}  (WebSocket: ${address.replace('http', 'ws')}/ws)`,
      `  data  ${home}`,
      `  logs  ${logs}`,
      `Next, in another terminal:  ${settings.join('')}npm run demo`,
      'Ctrl-C stops everything.',
    ].join('\n'),
  );
}
