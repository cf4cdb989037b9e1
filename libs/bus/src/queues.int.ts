import { JobWorker } from './job-worker';
import { Queues } from './queues';
import { startBus, until, type TestBus } from './test-bus.harness';

let bus: TestBus;
let queues: Queues;
const workers: JobWorker[] = [];
beforeAll(async () => {
  bus = await startBus();
  queues = new Queues(bus.server.url, bus.keys, true);
  queues.onError(() => undefined);
  await until(() => queues.connected);
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
});
afterAll(async () => {
  await queues.close();
  await bus.stop();
});

function work(process: (data: unknown) => Promise<void>) {
  const worker = new JobWorker({
    redisUrl: bus.server.url,
    keys: bus.keys,
    queue: 'bot-commands',
    concurrency: 1,
    process,
    onError: () => undefined,
  });
  workers.push(worker);
  worker.run();
}

describe('the queues', () => {
  it('hand on jobs in order and leave nothing behind', async () => {
    const seen: unknown[] = [];
    await queues.add('bot-commands', [
      { id: 'a1', data: 1 },
      { id: 'a2', data: 2 },
    ]);
    await queues.add('bot-commands', [{ id: 'a1', data: 'again' }]);
    expect((await queues.depths()).get('bot-commands')).toBe(2);
    work(async (data) => void seen.push(data));
    await until(async () => seen.length === 2 && !(await queues.has('bot-commands', 'a2')));
    expect(seen).toEqual([1, 2]);
  });

  it('withdraw what no worker had', async () => {
    await queues.add('bot-commands', [{ id: 'b1', data: 1 }]);
    expect(await queues.withdraw('bot-commands', 'b1')).toBe('withdrawn');
    expect(await queues.has('bot-commands', 'b1')).toBe(false);
    expect((await queues.depths()).get('bot-commands')).toBe(0);
    expect(await queues.withdraw('bot-commands', 'b1')).toBe('gone');
  });

  it('do not withdraw what a worker has, and know nothing of what is done', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let started = false;
    work(async () => {
      started = true;
      await finished;
    });
    await queues.add('bot-commands', [{ id: 'c1', data: 1 }]);
    await until(() => started);
    expect(await queues.withdraw('bot-commands', 'c1')).toBe('taken');
    finish();
    await until(async () => !(await queues.has('bot-commands', 'c1')));
    expect(await queues.withdraw('bot-commands', 'c1')).toBe('gone');
  });

  it('refuse at once while Redis is away and work again when it is back', async () => {
    await bus.server.kill();
    await until(() => !queues.connected);
    await expect(queues.add('bot-commands', [{ id: 'd1', data: 1 }])).rejects.toThrow();
    await bus.server.restart();
    await until(() => queues.connected);
    await queues.add('bot-commands', [{ id: 'd1', data: 1 }]);
    expect(await queues.withdraw('bot-commands', 'd1')).toBe('withdrawn');
  });
});
