import { setImmediate as immediate } from 'node:timers/promises';
import { jobId } from '@flowly/bus';
import {
  DeliveryWorld,
  event,
  GATEWAY,
  isEmpty,
  numbers,
  until,
  waitingRows,
} from './delivery.harness';
import { addBotTurn, addEvent, addReply, type RunTurn } from './outbox';

const run = (runId: string): RunTurn => ({
  type: 'run',
  bot: 'writer',
  botId: 'bot-1',
  runId,
  attempt: 0,
});
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

let world: DeliveryWorld;
beforeEach(async () => {
  world = await DeliveryWorld.start({ inlineBytes: 10_000 });
});
afterEach(() => world.stop());

it('puts out what a commit left, oldest first, and removes it', async () => {
  const database = await world.open();
  await world.takeJobs('bot-turns');
  const relay = world.relay(database);
  await database.write(() => {
    addEvent(database, event(1));
    addEvent(database, event(2));
    addReply(database, { id: 'c1', gateway: GATEWAY }, { ok: true });
    addBotTurn(database, jobId('a'), run('r1'));
    addBotTurn(database, jobId('b'), run('r2'));
  });
  await relay.drain();
  expect(isEmpty(database)).toBe(true);
  await until(() => world.jobs.length === 2 && world.replies.length === 1);
  expect(numbers(world.events)).toEqual([1, 2]);
  expect(world.jobs).toEqual([run('r1'), run('r2')]);
  expect(await world.answers()).toEqual([{ result: { ok: true } }]);
  const newest = await world.bus.redis.xrevrange(world.bus.keys.events, '+', '-', 'COUNT', 1);
  expect(world.replies[0]?.after).toBe(newest[0]?.[0]);
});

it('adds to an event what is not stored', async () => {
  const database = await world.open();
  const relay = world.relay(database, undefined, {
    dress: (stored) => ({ ...stored, ...event(2) }),
  });
  await database.write(() => addEvent(database, event(1)));
  await relay.drain();
  await until(() => world.events.length > 0);
  expect(numbers(world.events)).toEqual([2]);
});

it('two relays over two connections put each event out once and in order', async () => {
  const [a, b] = [await world.open(), await world.open()];
  const relays = [world.relay(a), world.relay(b)];
  for (const n of range(0, 300)) {
    const database = n % 2 ? a : b;
    await database.write(() => addEvent(database, event(n)));
  }
  await Promise.all(relays.map((relay) => relay.drain()));
  expect(isEmpty(a)).toBe(true);
  await until(() => world.events.length >= 300);
  expect(numbers(world.events)).toEqual(range(0, 300));
});

it('repeats nothing that a relay had put out before it died', async () => {
  const database = await world.open();
  await database.write(() => range(1, 6).forEach((n) => addEvent(database, event(n))));
  for (const seq of range(1, 4)) {
    await world.bus.publisher.publish(database.id, seq, event(seq));
  }
  await world.relay(database).drain();
  await until(() => world.events.length >= 5);
  expect(numbers(world.events)).toEqual(range(1, 6));
});

it('a relay that was slow says nothing twice after Redis has lost everything', async () => {
  const database = await world.open();
  const relay = world.relay(database);
  await database.write(() => range(1, 6).forEach((n) => addEvent(database, event(n))));
  await relay.drain();
  await world.bus.redis.flushall();
  await database.write(() => addEvent(database, event(6)));
  await relay.drain();
  await world.bus.publisher.publish(database.id, 4, event(4));
  await world.bus.publisher.publish(database.id, 7, event(7));
  expect(await world.bus.redis.xlen(world.bus.keys.events)).toBe(2);
});

it('loses nothing while Redis is away', async () => {
  const database = await world.open();
  const relay = world.relay(database);
  await world.server.kill();
  await database.write(() => range(1, 4).forEach((n) => addEvent(database, event(n))));
  const drained = relay.drain();
  await world.server.restart();
  await drained;
  expect(isEmpty(database)).toBe(true);
  expect(await world.bus.redis.xlen(world.bus.keys.events)).toBe(3);
});

it('sends large jobs and replies by key', async () => {
  const database = await world.open();
  const long = 'x'.repeat(20_000);
  const relay = world.relay(database);
  await database.write(() => {
    addReply(database, { id: 'c1', gateway: GATEWAY }, { long });
    addBotTurn(database, jobId('a'), run(long));
  });
  await relay.drain();
  await until(() => world.replies.length === 1);
  expect(world.replies[0]).toMatchObject({ command: 'c1', body: expect.stringMatching(/large/) });
  expect(await world.answers()).toEqual([{ result: { long } }]);
  const waiting = await world.bus.redis.hget(
    `${world.bus.keys.prefix}:bot-turns:${jobId('a')}`,
    'data',
  );
  expect(waiting).toMatch(/"large"/);
  await world.takeJobs('bot-turns');
  await until(() => world.jobs.length === 1);
  expect(world.jobs).toEqual([run(long)]);
});

it('sets rows aside that nobody can read, says so, and goes on', async () => {
  const database = await world.open();
  const addRow = (target: string, body: string) =>
    database.run('INSERT INTO ext_outbox(target, kind, body) VALUES (?, ?, ?)', target, 'k', body);
  await database.write(() => {
    addEvent(database, event(1));
    addRow('events', '{"event":');
    addRow('events', '{"event":{"kind":"unheard of"}}');
    addRow('somewhere', '{}');
    addBotTurn(database, '42', run('an id that BullMQ refuses'));
    addBotTurn(database, 'a:b', run('another'));
    addEvent(database, event(2));
  });
  await world.relay(database).drain();
  expect(isEmpty(database)).toBe(true);
  await until(() => world.events.length === 2);
  expect(numbers(world.events)).toEqual([1, 2]);
  const aside = database.all('SELECT seq, body FROM ext_outbox_aside ORDER BY seq');
  expect(aside).toHaveLength(5);
  expect(aside[0]).toEqual({ seq: 2, body: '{"event":' });
  expect(world.errors.map(String).sort()).toEqual(
    range(2, 7).map((seq) => expect.stringContaining(`Row ${seq} `)),
  );
});

it('answers INTERNAL where an outcome cannot be presented, and goes on', async () => {
  const database = await world.open();
  const relay = world.relay(database, () => Promise.reject(new Error('at /some/path')));
  await database.write(() => {
    addReply(database, { id: 'c1', gateway: GATEWAY }, {});
    addEvent(database, event(1));
  });
  await relay.drain();
  expect(isEmpty(database)).toBe(true);
  await until(() => world.replies.length === 1);
  expect(await world.answers()).toEqual([
    { error: { code: 'INTERNAL', message: expect.not.stringContaining('/'), retryable: false } },
  ]);
  expect(world.errors).toHaveLength(1);
});

it('drain waits for what was there and not for what is committed meanwhile', async () => {
  const database = await world.open();
  const relay = world.relay(database);
  let committing = true;
  // Something always waits, but never so much that each drain would take longer than the one before it.
  const commits = (async () => {
    for (let n = 0; committing; n++) {
      if (waitingRows(database) < 10) await database.write(() => addEvent(database, event(n)));
      await immediate();
    }
  })();
  try {
    for (let round = 0; round < 20; round++) await relay.drain();
  } finally {
    committing = false;
    await commits;
  }
});

it('ends with its database', async () => {
  const database = await world.open();
  const relay = world.relay(database);
  await world.server.kill();
  await database.write(() => addEvent(database, event(1)));
  database.close();
  await world.server.restart();
  await relay.drain();
  await relay.close();
});
