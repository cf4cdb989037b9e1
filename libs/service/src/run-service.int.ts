import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startRedis, type TestRedis } from '@flowly/testing';

const ROOT = resolve(__dirname, '../../..');
const HOST_ID = '11111111-1111-4111-8111-111111111111';

let folder: string;
let program: string;
let redis: TestRedis;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'flowly-service-'));
  program = join(folder, 'program.cjs');
  const esbuild = require.resolve('esbuild/bin/esbuild');
  const config = `--tsconfig=${join(ROOT, 'tsconfig.base.json')}`;
  const external = ['@nestjs/*', 'bullmq', 'nestjs-pino', 'pino'].map(
    (name) => `--external:${name}`,
  );
  const options = ['--bundle', '--platform=node', '--log-level=error', ...external];
  execFileSync(esbuild, [
    join(__dirname, 'service.child.ts'),
    ...options,
    config,
    `--outfile=${program}`,
  ]);
  writeFileSync(join(folder, 'profile-host.json'), JSON.stringify({ version: 1, hostId: HOST_ID }));
  redis = await startRedis();
});
afterEach(async () => {
  const left = children.splice(0).filter((child) => child.exitCode === null && !child.signalCode);
  await Promise.all(left.map((child) => (child.kill('SIGKILL'), once(child, 'exit'))));
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

function start(argv: string[], environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [program, ...argv], {
    env: {
      PATH: process.env['PATH'],
      NODE_PATH: join(ROOT, 'node_modules'),
      FLOWLY_HOME: folder,
      REDIS_URL: redis.url,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  const started = new Promise<void>((resolveStarted) => {
    child.stdout.on('data', () => text.includes('started') && resolveStarted());
  });
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, text }));
  return { child, started, ended };
}

it('--health says yes while this machine’s worker lives, and no before and afterwards', async () => {
  expect((await start(['--health']).ended).code).toBe(1);
  const service = start([]);
  await service.started;
  let code: number | null = 1;
  for (let tries = 0; code !== 0 && tries < 20; tries++) {
    code = (await start(['--health']).ended).code;
  }
  expect(code).toBe(0);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
  expect((await start(['--health']).ended).code).toBe(1);
}, 20_000);

it('--health says no where there is no Redis', async () => {
  const nowhere = { REDIS_URL: 'redis://127.0.0.1:1' };
  expect((await start(['--health'], nowhere).ended).code).toBe(1);
});

it('a start that fails says why and ends with 1', async () => {
  expect(await start(['fails']).ended).toMatchObject({
    code: 1,
    text: expect.stringContaining('bot-runner could not start: Error: no database'),
  });
  expect(await start([], { FLOWLY_GATEWAY_PROT: '1' }).ended).toMatchObject({
    code: 1,
    text: expect.stringContaining('did you mean FLOWLY_GATEWAY_PORT?'),
  });
});

it('an end that takes too long is cut off', async () => {
  const limits = join(folder, 'limits.json');
  writeFileSync(limits, JSON.stringify({ shutdownMs: 200 }));
  const service = start(['hangs'], { FLOWLY_LIMITS_FILE: limits });
  await service.started;
  service.child.kill('SIGTERM');
  expect(await service.ended).toMatchObject({
    code: 1,
    text: expect.stringContaining('took too long'),
  });
});
