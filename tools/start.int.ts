import { readFileSync, statSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import Redis from 'ioredis';
import { Bench, type FakeApps, runs } from './start.harness';

jest.setTimeout(30_000);

let bench: Bench;
const withApps = async (apps?: FakeApps) => (bench = await Bench.make(apps));
afterEach(() => bench.clean());

/** Redis writes its settings back under these names. */
async function redisSettings(url: string): Promise<unknown> {
  const redis = new Redis(url);
  redis.on('error', () => undefined); // the command below fails with the same
  try {
    return await redis.config('GET', 'append*', 'maxmemory-policy', 'bind');
  } finally {
    redis.disconnect();
  }
}

test('a start waits for /ready, a second one is refused, SIGTERM leaves nothing behind', async () => {
  await withApps();
  const first = bench.start();
  await first.says(/Flowly is ready: http:\/\/127\.0\.0\.1:\d+/);
  expect(first.output()).toContain('npm run demo');
  const children = bench.children();
  expect(children).toHaveLength(4);

  const second = bench.start();
  expect(await second.exit).toBe(1);
  expect(second.output()).toContain(`already runs on ${bench.home} (process ${first.child.pid})`);
  expect(children.every(runs)).toBe(true);

  first.child.kill('SIGTERM');
  expect(await first.exit).toBe(0);
  expect(children.filter(runs)).toEqual([]);
  expect(bench.children()).toEqual([]);
});

test('the private Redis keeps what it is told, asks for its password and shows it to nobody', async () => {
  await withApps();
  await bench.start().says(/Flowly is ready/);
  const { REDIS_URL = '', FLOWLY_HOME } = bench.serviceEnv();
  expect(FLOWLY_HOME).toBe(bench.home);
  const { password } = new URL(REDIS_URL);
  expect(password).toMatch(/^[0-9a-f]{64}$/);
  expect(await redisSettings(REDIS_URL)).toEqual(
    expect.arrayContaining(['appendonly', 'yes', 'appendfsync', 'everysec', 'noeviction']),
  );
  await expect(redisSettings(REDIS_URL.replace(/:[^:@]+@/, '@'))).rejects.toThrow('NOAUTH');
  expect(statSync(path.join(bench.home, 'redis', 'password')).mode & 0o777).toBe(0o600);
  const commandLines = bench.children().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  expect(commandLines.join()).not.toContain(password);
});

test('what a killed start left behind is ended by the next one', async () => {
  await withApps();
  const first = bench.start();
  await first.says(/Flowly is ready/);
  const orphans = bench.children();
  first.child.kill('SIGKILL');
  await first.exit;

  const second = bench.start();
  await second.says(/Flowly is ready/);
  expect(orphans.filter(runs)).toEqual([]);
  expect(bench.children()).toHaveLength(4);
});

test('a service that ends by itself is started again', async () => {
  await withApps({
    'bot-runner': `setTimeout(() => process.exit(3), 3000);`,
  });
  const start = bench.start();
  await start.says(/Flowly is ready/);
  await start.says(/bot-runner ended by itself \(exit code 3\); starting it again in 0\.5 s/);
});

test('a service that cannot start ends everything, with its last lines', async () => {
  await withApps({
    gateway: 'setInterval(() => undefined, 1000);',
    'bot-runner': `console.log('the reason'); process.exit(3);`,
  });
  const start = bench.start();
  expect(await start.exit).toBe(1);
  expect(start.output()).toMatch(/bot-runner does not start\. Last lines of .*:\n(the reason\n)+/);
  expect(bench.children()).toEqual([]);
});

test('SIGTERM before everything is ready, and a service that does not listen to it', async () => {
  await withApps({
    gateway: `
      process.on('SIGTERM', () => undefined);
      setInterval(() => undefined, 1000);
      console.error('deaf');`,
  });
  const start = bench.start();
  await start.says(/\[gateway\] deaf/);
  const children = bench.children();
  const before = Date.now();
  start.child.kill('SIGTERM');
  expect(await start.exit).toBe(0);
  expect(Date.now() - before).toBeLessThan(10_000);
  expect(children.filter(runs)).toEqual([]);
});

test('a port in use and a Redis that does not answer are said in one line', async () => {
  await withApps();
  const other = net.createServer().listen(bench.port, '127.0.0.1');
  const taken = bench.start();
  expect(await taken.exit).toBe(1);
  expect(taken.output()).toContain(`Port ${bench.port} on 127.0.0.1 is used by another program`);
  await new Promise((resolve) => other.close(resolve));

  const noRedis = bench.start({ REDIS_URL: `redis://:secret@127.0.0.1:${bench.port}` });
  expect(await noRedis.exit).toBe(1);
  expect(noRedis.output()).toContain(`REDIS_URL (127.0.0.1:${bench.port}) does not answer`);
  expect(noRedis.output()).not.toContain('secret');
});
