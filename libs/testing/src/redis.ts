import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port';

/** A private Redis for one test file: on loopback, in memory, gone after `stop`. */
export interface TestRedis {
  /** `redis://127.0.0.1:<port>`; stays the same over `restart`. */
  readonly url: string;
  readonly port: number;
  /** Ends the server and removes its folder; may be called twice. */
  stop(): Promise<void>;
  /** Ends the server with this signal (default SIGKILL) and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Kills the server if it runs and starts it again on the same port, empty. */
  restart(): Promise<void>;
}

const START_TIMEOUT_MS = 10_000;

/**
 * Starts a `redis-server` (which must be in PATH) and waits until it answers.
 *
 * @throws Error when the server cannot be started or does not answer within ten seconds
 */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'flowly-redis-'));
  const port = await freePort();
  let server = await startServer(port, folder);
  const kill = (signal: NodeJS.Signals = 'SIGKILL') => end(server, signal);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
    async restart() {
      await kill();
      server = await startServer(port, folder);
    },
  };
}

async function startServer(port: number, folder: string): Promise<ChildProcess> {
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    dir: folder,
    save: '',
    appendonly: 'no',
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  let failure: Error | undefined;
  server.once('error', (error) => (failure = error));
  server.once('exit', (code) => (failure ??= new Error(`redis-server ended with code ${code}`)));
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(port, server.pid))) {
    if (failure) throw failure;
    if (Date.now() > deadline) {
      await end(server, 'SIGKILL');
      throw new Error('redis-server does not answer');
    }
    await sleep(10);
  }
  return server;
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.kill(signal);
  await gone;
}

/** Whether it is this server that answers on the port, and no other. */
function answers(port: number, pid: number | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    let answer = '';
    const finish = (isOurs: boolean) => {
      socket.destroy();
      resolve(isOurs);
    };
    socket.setTimeout(1000, () => finish(false));
    socket.once('connect', () => socket.write('INFO server\r\n'));
    socket.on('data', (data) => {
      answer += data.toString();
      if (answer.includes(`process_id:${pid}\r\n`)) finish(true);
    });
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}
