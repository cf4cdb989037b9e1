import { EventPublisher } from './publisher';
import { isPositionGone, readEra, trimEvents } from './stream-care';
import { limits, startBus, type TestBus } from './test-bus.harness';
import { newestId } from './tail';

let bus: TestBus;
beforeAll(async () => {
  bus = await startBus();
});
beforeEach(() => bus.redis.flushall());
afterAll(() => bus.stop());

const add = (id: string, bytes = 1) => bus.redis.xadd(bus.keys.events, id, 'e', 'x'.repeat(bytes));

describe('the care of the stream', () => {
  it('trims by age and knows which positions have lost entries', async () => {
    const now = Date.now();
    await add(`${now - 2_000}-0`);
    await add(`${now - 1_500}-0`);
    await add(`${now + 60_000}-0`);
    await trimEvents(bus.redis, bus.keys, { ...limits, eventStreamMs: 1_000 });
    expect(await bus.redis.xlen(bus.keys.events)).toBe(1);
    expect(await isPositionGone(bus.redis, bus.keys, `${now - 2_000}-0`)).toBe(true);
    expect(await isPositionGone(bus.redis, bus.keys, `${now - 1_500}-0`)).toBe(false);
  });

  it('keeps the position of a reader that had read everything when all of it was trimmed', async () => {
    const last = `${Date.now() - 5_000}-3`;
    await add(last);
    await trimEvents(bus.redis, bus.keys, { ...limits, eventStreamMs: 1_000 });
    expect(await newestId(bus.redis, bus.keys.events)).toBe('0-0');
    expect(await isPositionGone(bus.redis, bus.keys, last)).toBe(false);
    await add('*');
    expect(await isPositionGone(bus.redis, bus.keys, last)).toBe(false);
  });

  it('takes half away while the stream is too large', async () => {
    for (let index = 0; index < 100; index += 1) await add('*', 10_000);
    const [first] = await bus.redis.xrange(bus.keys.events, '-', '+', 'COUNT', 1);
    await trimEvents(bus.redis, bus.keys, { ...limits, streamBytes: 600_000 });
    expect(await bus.redis.xlen(bus.keys.events)).toBe(50);
    expect(await isPositionGone(bus.redis, bus.keys, first?.[0] ?? '')).toBe(true);
    expect(
      await isPositionGone(bus.redis, bus.keys, await newestId(bus.redis, bus.keys.events)),
    ).toBe(false);
  });

  it('does nothing to a host without events', async () => {
    await trimEvents(bus.redis, bus.keys, limits);
    expect(await isPositionGone(bus.redis, bus.keys, '0-0')).toBe(false);
  });

  it('names a lifetime of the data once and anew after it was lost', async () => {
    const era = await readEra(bus.redis, bus.keys);
    expect(await readEra(bus.redis, bus.keys)).toBe(era);
    await bus.redis.flushall();
    expect(await readEra(bus.redis, bus.keys)).not.toBe(era);
  });
});

describe('a database that was set back', () => {
  const begin = (name: string) => new EventPublisher(bus.redis, bus.keys).beginAnew(name);
  const isGone = (position: string) => isPositionGone(bus.redis, bus.keys, position);
  beforeEach(() => begin('groups'));

  it('is no other where none was before', async () => {
    const era = await readEra(bus.redis, bus.keys);
    await begin('bots@1');
    expect(await readEra(bus.redis, bus.keys)).toBe(era);
  });

  it('lets nobody go on from before, whoever had read everything included, and later ones do', async () => {
    await add('*');
    const before = await newestId(bus.redis, bus.keys.events);
    await begin('groups@1');
    expect(await isGone(before)).toBe(true);
    await add('*');
    expect(await isGone(await newestId(bus.redis, bus.keys.events))).toBe(false);
    await trimEvents(bus.redis, bus.keys, limits);
    expect(await isGone(before)).toBe(true);
  });

  it('is another era, for readers that have gone on before they looked', async () => {
    const era = await readEra(bus.redis, bus.keys);
    await begin('groups@1');
    const next = await readEra(bus.redis, bus.keys);
    expect(next).not.toBe(era);
    await begin('groups@1');
    expect(await readEra(bus.redis, bus.keys)).toBe(next);
  });

  it('does so once', async () => {
    await begin('groups@1');
    await add('*');
    const position = await newestId(bus.redis, bus.keys.events);
    await begin('groups@1');
    expect(await isGone(position)).toBe(false);
    await begin('groups@2');
    expect(await isGone(position)).toBe(true);
  });

  it('a gateway that starts on the empty stream has missed nothing', async () => {
    await begin('groups@1');
    const { tail } = await bus.tail();
    expect(await isGone(tail.position)).toBe(false);
  });
});
