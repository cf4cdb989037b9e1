import { EventPublisher } from './publisher';
import { LargeValues } from './large-values';
import { Replies } from './replies';
import { compareIds } from './tail';
import { limits, startBus, until, type TestBus } from './test-bus.harness';

let bus: TestBus;
beforeAll(async () => {
  bus = await startBus();
});
afterAll(() => bus.stop());

const event = {
  kind: 'bot',
  bot: 'a',
  botId: 'b',
  sessionKey: null,
  type: 'directory',
  data: {},
} as const;
const outcome = { result: { ok: true } };

describe('the tail', () => {
  it('starts behind what is there and goes on where it was after Redis was away', async () => {
    const publisher = new EventPublisher(bus.redis, bus.keys);
    await publisher.publish('tail', 1, event);
    const { tail, events } = await bus.tail();
    const second = await publisher.publish('tail', 2, event);
    await until(() => events.length === 1);
    expect(tail.position).toBe(second);
    await bus.server.restart();
    await until(() => bus.redis.status === 'ready');
    const third = await publisher.publish('tail', 3, event);
    await until(() => events.length === 2);
    expect(compareIds(third, second)).toBeGreaterThan(0);
  });

  it('reads the replies of its gateway alone, each with the event it follows', async () => {
    const large = new LargeValues(bus.redis, bus.keys, limits);
    const replies = new Replies(bus.redis, bus.keys, large, limits);
    const publisher = new EventPublisher(bus.redis, bus.keys);
    const [mine, other] = [await bus.tail('mine'), await bus.tail('other')];
    const own = await publisher.publish('replies-db', 1, event);
    const newest = await publisher.publish('another-db', 1, event);
    await replies.send('mine', { command: 'c1', outcome }, { database: 'replies-db' });
    await replies.send('mine', { command: 'c2', outcome }, 'newest');
    await replies.send('mine', { command: 'c3', outcome }, { event: '5-0' });
    await until(() => mine.replies.length === 3);
    expect(mine.replies.map(({ after }) => after)).toEqual([own, newest, '5-0']);
    expect(mine.replies.map(({ command }) => command)).toEqual(['c1', 'c2', 'c3']);
    expect(JSON.parse(mine.replies[0]?.body ?? '')).toEqual({ body: { command: 'c1', outcome } });
    expect(other.replies).toEqual([]);
    expect(await bus.redis.pttl(bus.keys.replies('mine'))).toBeGreaterThan(0);
  });

  it('hands on thousands of events in order', async () => {
    const { events } = await bus.tail();
    const pipeline = bus.redis.pipeline();
    for (let index = 0; index < 3_000; index += 1)
      pipeline.xadd(bus.keys.events, '*', 'e', String(index));
    await pipeline.exec();
    await until(() => events.length === 3_000);
    expect(events.map((entry) => Number(entry.event))).toEqual(
      Array.from({ length: 3_000 }, (_, index) => index),
    );
  });

  it('answers empty after for a host without any event', async () => {
    await bus.redis.flushall();
    const replies = new Replies(
      bus.redis,
      bus.keys,
      new LargeValues(bus.redis, bus.keys, limits),
      limits,
    );
    const { replies: got } = await bus.tail('fresh');
    await replies.send('fresh', { command: 'c', outcome }, 'newest');
    await until(() => got.length === 1);
    expect(got[0]?.after).toBe('');
  });
});

describe('large values', () => {
  it('travel by key above the limit and are null once gone', async () => {
    const large = new LargeValues(bus.redis, bus.keys, { inlineBytes: 20, largeValueMs: 60_000 });
    expect(await large.pack({ a: 1 })).toEqual({ body: { a: 1 } });
    const packed = await large.pack({ a: 'x'.repeat(30) });
    expect(await large.unpack(packed)).toEqual({ body: { a: 'x'.repeat(30) } });
    expect('large' in packed && (await large.bytes(packed.large))).toBe(38);
    expect(await large.bytes('gone')).toBe(0);
    await bus.redis.flushall();
    expect(await large.unpack(packed)).toBeNull();
  });
});
