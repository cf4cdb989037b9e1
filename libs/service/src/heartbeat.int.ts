import {
  BusKeys,
  connectRedis,
  readHeartbeats,
  type RedisClient,
  type WorkerFault,
} from '@flowly/bus';
import { defaultLimits } from '@flowly/contract';
import { startRedis, until, type TestRedis } from '@flowly/testing';
import { hasOwnHeartbeat, HeartbeatWriter } from './heartbeat';

const limits = { ...defaultLimits, heartbeatMs: 20, heartbeatGoneMs: 200 };
const keys = new BusKeys('host-1');

let server: TestRedis;
let redis: RedisClient;
beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, 'test');
  redis.on('error', () => undefined);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const beats = () => readHeartbeats(redis, keys);
const writerOf = (service: string, figures: () => Record<string, number> = () => ({})) =>
  new HeartbeatWriter(redis, keys, service, limits, figures, () => undefined);
const comes = (condition: () => Promise<boolean>) => until(condition, 5_000, 'did not come true');

it('beats with its figures, also after Redis lost them, and takes itself away at the end', async () => {
  let commands = 1;
  const writer = writerOf('bot-runner', () => ({ commands }));
  writer.start();
  await comes(async () => (await beats())[0]?.figures['commands'] === 1);
  expect((await beats())[0]).toMatchObject({
    service: 'bot-runner',
    instance: writer.instance,
    figures: { rssBytes: expect.any(Number), eventLoopDelayP99Ms: expect.any(Number) },
  });
  commands = 2;
  await redis.flushall();
  await comes(async () => (await beats())[0]?.figures['commands'] === 2);
  expect(await hasOwnHeartbeat(redis, keys, 'bot-runner')).toBe(true);
  expect(await hasOwnHeartbeat(redis, keys, 'group-orchestrator')).toBe(false);
  await writer.stop();
  expect(await beats()).toEqual([]);
});

it('says what the worker suffers from, until it does no more', async () => {
  let fault: WorkerFault | undefined = { code: 'ROOM_STORE_INVALID', message: 'It is damaged.' };
  const ignore = () => undefined;
  const suffers = () => fault;
  const writer = new HeartbeatWriter(redis, keys, 'a', limits, () => ({}), ignore, suffers);
  writer.start();
  await comes(async () => (await beats())[0]?.fault?.code === 'ROOM_STORE_INVALID');
  fault = undefined;
  await comes(async () => (await beats())[0]?.fault === undefined);
  await writer.stop();
});

it('two workers of a service have a heartbeat each; one that died is gone soon', async () => {
  const [a, b] = [writerOf('bot-runner'), writerOf('bot-runner')];
  a.start();
  b.start();
  await comes(async () => (await beats()).length === 2);
  await a.stop();
  expect((await beats()).map(({ instance }) => instance)).toEqual([b.instance]);
  await b.stop();
  const dead = { service: 'gateway', instance: 'x', at: 1, figures: {} };
  await redis.set(keys.heartbeat('gateway', 'x'), JSON.stringify(dead), 'PX', 50);
  await redis.sadd(keys.heartbeats(), keys.heartbeat('gateway', 'x'));
  await comes(async () => (await beats()).length === 0);
  expect(await redis.scard(keys.heartbeats())).toBe(0);
});
