import type { BotStreamEvent, GroupStreamEvent } from '@flowly/contract';
import { LiveRecords } from './live-record';
import { EventPublisher } from './publisher';
import { readReadiness } from './readiness';
import { startBus, until, type TestBus } from './test-bus.harness';

let bus: TestBus;
let publisher: EventPublisher;
beforeAll(async () => {
  bus = await startBus();
  publisher = new EventPublisher(bus.redis, bus.keys);
});
afterAll(() => bus.stop());

const groupEvent = (groupId: string): GroupStreamEvent => ({
  kind: 'group',
  groupId,
  type: 'updated',
});
const botEvent: BotStreamEvent = {
  kind: 'bot',
  bot: 'default',
  botId: 'b',
  sessionKey: null,
  type: 'directory',
  data: { empty: [], nothing: {} },
};

describe('the publisher', () => {
  it('drops an outbox sequence that is not newer and names the event it became', async () => {
    const { events } = await bus.tail();
    const first = await publisher.publish('db-1', 1, botEvent);
    const again = await publisher.publish('db-1', 1, botEvent);
    const second = await publisher.publish('db-1', 2, botEvent);
    const other = await publisher.publish('db-2', 1, botEvent);
    expect(again).toBe(first);
    await until(() => events.length === 3);
    expect(events.map(({ id }) => id)).toEqual([first, second, other]);
    expect(JSON.parse(events[0]?.event ?? '')).toEqual(botEvent);
  });

  it('sets starting before the event and keeps ready members ready', async () => {
    const ready = { state: 'ready' as const, updatedAt: '2026-01-01T00:00:00.000Z', error: '' };
    await publisher.publish('groups', 1, groupEvent('g1'), { readiness: { writer: ready } });
    const { events } = await bus.tail();
    await publisher.publish('groups', 2, groupEvent('g1'), { starting: ['writer', 'default'] });
    await until(() => events.length === 1);
    const stored = events[0]?.readiness ?? {};
    expect(JSON.parse(stored['writer'] ?? '')).toEqual(ready);
    expect(JSON.parse(stored['default'] ?? '')).toMatchObject({ state: 'starting', error: '' });
    const readiness = await readReadiness(bus.redis, bus.keys, 'g1', ['writer', 'default', 'new']);
    expect([
      readiness['writer']?.state,
      readiness['default']?.state,
      readiness['new']?.state,
    ]).toEqual(['ready', 'starting', 'idle']);
  });

  it('adds the texts of the shown members as they stand', async () => {
    const records = new LiveRecords(bus.redis, bus.keys, 10_000);
    const group = { groupId: 'g2', runId: 'r' };
    const run = { bot: 'writer', botId: 'b', sessionKey: 's', runId: 'step-1', epoch: 1, group };
    await records.addPiece(run, 0, 'so "far" 😀\n');
    const { events } = await bus.tail();
    await publisher.publish('groups', 3, groupEvent('g2'), {
      shown: [
        { member: 'writer', stepKey: 'step-1' },
        { member: 'default', stepKey: 'step-2' },
      ],
    });
    await until(() => events.length === 1);
    expect({ ...events[0]?.texts }).toEqual({ writer: 'so "far" 😀\n' });
    expect({ ...events[0]?.readiness }).toEqual({});
  });
});
