import { setTimeout as delay } from 'node:timers/promises';
import { JobWorker } from './job-worker';
import { Queues } from './queues';
import { startBus, until, type TestBus } from './test-bus.harness';

let bus: TestBus;
let queues: Queues;
let worker: JobWorker;
/** Ends the jobs at work, by their data. */
let ends: Map<unknown, () => void>;
let most: number;

beforeAll(async () => {
  bus = await startBus();
  queues = new Queues(bus.server.url, bus.keys, true);
  await until(() => queues.connected);
});
beforeEach(async () => {
  ends = new Map();
  most = 0;
  worker = new JobWorker({
    redisUrl: bus.server.url,
    keys: bus.keys,
    queue: 'bot-turns',
    concurrency: 3,
    process: work,
    onError: () => undefined,
  });
  await worker.ready();
  worker.run();
});
afterEach(async () => {
  for (const end of ends.values()) end();
  await worker.close(true);
});
afterAll(async () => {
  await queues.close();
  await bus.stop();
});

async function work(data: unknown): Promise<void> {
  const over = new Promise<void>((resolve) => ends.set(data, resolve));
  most = Math.max(most, ends.size);
  await over;
  ends.delete(data);
}

let last = 0;
async function add(count: number): Promise<void> {
  const jobs = Array.from({ length: count }, () => ({ id: `t${++last}`, data: last }));
  await queues.add('bot-turns', jobs);
}

const atWork = (count: number) => until(() => ends.size === count);
const end = (count: number) => [...ends.values()].slice(0, count).forEach((stop) => stop());

it('begins a job while others are at work, each as it comes', async () => {
  for (let count = 1; count <= 3; count++) {
    await add(1);
    await atWork(count);
  }
});

it('works on as many as it may and not on more, and takes the next as soon as one is done', async () => {
  await add(5);
  await atWork(3);
  await delay(50);
  expect(most).toBe(3);
  expect((await queues.depths()).get('bot-turns')).toBe(2);
  end(1);
  await until(async () => (await queues.depths()).get('bot-turns') === 1);
  await atWork(3);
  end(3);
  await atWork(1);
  end(1);
  await atWork(0);
  expect(most).toBe(3);
});

it('goes on after it had nothing to do', async () => {
  for (let round = 0; round < 3; round++) {
    await add(2);
    await atWork(2);
    end(2);
    await atWork(0);
    await delay(20);
  }
});

it('takes fewer or more when the bound is changed', async () => {
  worker.concurrency = 1;
  await add(4);
  await atWork(1);
  await delay(50);
  expect(most).toBe(1);
  worker.concurrency = 2;
  end(1);
  await atWork(2);
  end(2);
  await until(async () => (await queues.depths()).get('bot-turns') === 0);
  expect(most).toBe(2);
});

it('takes more at once when the bound is raised while all are at work', async () => {
  await add(6);
  await atWork(3);
  worker.concurrency = 4;
  await atWork(4);
  worker.concurrency = 5;
  await atWork(5);
  worker.concurrency = 3;
  end(3);
  await until(() => ends.size === 2 || ends.size === 3);
  await atWork(3);
  end(3);
  await atWork(0);
  expect(most).toBe(5);
});

it('keeps the bound when jobs that were let go end', async () => {
  worker.concurrency = 1;
  await add(6);
  await atWork(1);
  worker.concurrency = 2;
  await atWork(2);
  for (let left = 4; left > 0; left--) {
    end(1);
    await until(async () => (await queues.depths()).get('bot-turns') === left - 1);
    await atWork(2);
  }
  expect(most).toBe(2);
});
