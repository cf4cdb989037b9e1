import { LiveRecords, type LiveRun } from './live-record';
import { EventPublisher } from './publisher';
import { startBus, until, type TestBus } from './test-bus.harness';

let bus: TestBus;
let records: LiveRecords;
beforeAll(async () => {
  bus = await startBus();
  records = new LiveRecords(bus.redis, bus.keys, 10_000);
});
afterAll(() => bus.stop());

let count = 0;
function newRun(epoch = 1, group?: { groupId: string; runId: string }): LiveRun {
  count += 1;
  return {
    bot: 'writer',
    botId: 'bot-1',
    sessionKey: 'ios:a',
    runId: `run-${count}`,
    epoch,
    group,
  };
}
const ref = (run: LiveRun) => ({
  botId: run.botId,
  runId: run.runId,
  ...(run.group ? { groupId: run.group.groupId } : {}),
});

describe('the live record', () => {
  it('grows by pieces that continue it, in the same step as their events', async () => {
    const run = newRun();
    const { events } = await bus.tail();
    const first = await records.addPiece(run, 0, 'Grüße ');
    const second = await records.addPiece(run, 6, 'an 😀');
    expect(await records.read(ref(run))).toEqual({
      text: 'Grüße an 😀',
      lastId: 'id' in second ? second.id : '',
    });
    await until(() => events.length === 2);
    expect(events.map(({ id }) => id)).toEqual(
      [first, second].map((piece) => ('id' in piece ? piece.id : '')),
    );
    expect(JSON.parse(events[1]?.event ?? '')).toMatchObject({
      kind: 'piece',
      offset: 6,
      text: 'an 😀',
    });
  });

  it('refuses a piece that is not newer and one after a gap', async () => {
    const run = newRun();
    await records.addPiece(run, 0, 'abc');
    expect(await records.addPiece(run, 0, 'abc')).toEqual({ refused: 'old' });
    expect(await records.addPiece(run, 4, 'x')).toEqual({ refused: 'gap' });
  });

  it('counts UTF-16 units, so an emoji moves the offset by two', async () => {
    const run = newRun();
    await records.addPiece(run, 0, '😀');
    expect(await records.addPiece(run, 1, 'x')).toEqual({ refused: 'old' });
    expect(await records.addPiece(run, 2, 'x')).toHaveProperty('id');
  });

  it('belongs to the newest attempt', async () => {
    const run = newRun(1);
    await records.addPiece(run, 0, 'old words');
    expect(await records.take({ ...run, epoch: 2 })).toEqual({ id: 'ok' });
    expect((await records.read(ref(run))).text).toBe('');
    expect(await records.addPiece(run, 9, 'late')).toEqual({ refused: 'stale' });
    expect(await records.addPiece({ ...run, epoch: 2 }, 0, 'new')).toHaveProperty('id');
    expect(await records.take(run)).toEqual({ refused: 'stale' });
  });

  it('empties by itself when a newer attempt writes its first piece', async () => {
    const run = newRun(1);
    await records.addPiece(run, 0, 'old words');
    await records.addPiece({ ...run, epoch: 2 }, 0, 'new');
    expect((await records.read(ref(run))).text).toBe('new');
  });

  it('is written anew after Redis lost it, with an event of the whole text', async () => {
    const run = newRun();
    await records.addPiece(run, 0, 'one ');
    await bus.redis.flushall();
    expect(await records.addPiece(run, 4, 'two')).toEqual({ refused: 'gap' });
    const { events } = await bus.tail();
    await records.restore(run, 'one two');
    await until(() => events.length === 1);
    expect(JSON.parse(events[0]?.event ?? '')).toMatchObject({ offset: 0, text: 'one two' });
    expect(await records.addPiece(run, 7, '!')).toHaveProperty('id');
  });

  it('takes nothing after the terminal of its run, and its text is gone', async () => {
    const run = newRun();
    await records.addPiece(run, 0, 'text');
    const publisher = new EventPublisher(bus.redis, bus.keys);
    const final = {
      kind: 'bot',
      bot: 'writer',
      botId: 'bot-1',
      sessionKey: 'ios:a',
      type: 'chat',
      data: {},
    } as const;
    await publisher.publish('db-of-terminal', 1, final, { closed: [ref(run)] });
    expect(await records.addPiece(run, 4, '!')).toEqual({ refused: 'ended' });
    expect(await records.restore(run, 'text!')).toEqual({ refused: 'ended' });
    expect((await records.read(ref(run))).text).toBe('');
  });

  it('refuses every write of a frozen group run and reads its texts in the same step', async () => {
    const group = { groupId: 'group-1', runId: 'group-run-1' };
    const [one, two] = [newRun(1, group), newRun(1, group)];
    await records.addPiece(one, 0, 'first');
    expect(await records.freeze(group.runId, [one.runId, two.runId])).toEqual(['first', '']);
    expect(await records.addPiece(one, 5, '!')).toEqual({ refused: 'frozen' });
    expect(await records.take(two)).toEqual({ refused: 'frozen' });
    await records.unfreeze(group.runId);
    expect(await records.addPiece(one, 5, '!')).toHaveProperty('id');
    expect(await records.readSteps([one.runId, 'nobody'])).toEqual(['first!', '']);
  });
});
