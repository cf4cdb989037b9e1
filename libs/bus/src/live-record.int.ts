import type { ChatToolProgress, LiveCall } from '@flowly/contract';
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
      calls: [],
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
    expect(await records.addPiece(run, 0, 'abd')).toEqual({ refused: 'old' });
    expect(await records.addPiece(run, 0, 'ab')).toEqual({ refused: 'old' });
    expect(await records.addPiece(run, 4, 'x')).toEqual({ refused: 'gap' });
  });

  it('answers the newest piece again and tells it once', async () => {
    const run = newRun();
    await records.addPiece(run, 0, 'Grüße ');
    const { events } = await bus.tail();
    const first = await records.addPiece(run, 6, 'an 😀');
    expect(await records.addPiece(run, 6, 'an 😀')).toEqual(first);
    await records.addPiece(run, 11, '!');
    await until(() => events.length === 2);
    expect((await records.read(ref(run))).text).toBe('Grüße an 😀!');
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
    await records.restore(run, { text: 'one two', calls: [] });
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
    expect(await records.restore(run, { text: 'text!', calls: [] })).toEqual({ refused: 'ended' });
    expect((await records.read(ref(run))).text).toBe('');
  });

  it('refuses every write of a frozen group run and reads its texts in the same step', async () => {
    const group = { groupId: 'group-1', runId: 'group-run-1' };
    const [one, two] = [newRun(1, group), newRun(1, group)];
    await records.addPiece(one, 0, 'first');
    expect(await records.freeze(group.runId, [one.runId, two.runId])).toEqual([
      { text: 'first', calls: [] },
      { text: '', calls: [] },
    ]);
    expect(await records.addPiece(one, 5, '!')).toEqual({ refused: 'frozen' });
    expect(await records.take(two)).toEqual({ refused: 'frozen' });
    await records.unfreeze(group.runId);
    expect(await records.addPiece(one, 5, '!')).toHaveProperty('id');
    expect(await records.readSteps([one.runId, 'nobody'])).toEqual([
      { text: 'first!', calls: [] },
      { text: '', calls: [] },
    ]);
  });

  const call = (id: string, state: LiveCall['state'] = 'running'): LiveCall => ({
    id,
    name: 'exec',
    argumentsJson: '{"command":"ls"}',
    state,
    startedAt: 1,
  });
  const seen = async () => {
    const { events } = await bus.tail();
    return () => events.map(({ event }): unknown => JSON.parse(event));
  };

  it('a step of tools ends the text so far, and a group is told of step and calls', async () => {
    const group = { groupId: 'group-1', runId: 'group-run-2' };
    const run = newRun(1, group);
    const entries = await seen();
    await records.addPiece(run, 0, 'Let me look. ');
    await records.addStep(run, []);
    await records.addCall(run, { call: call('c1'), calls: [call('c1')] }, []);
    await records.addPiece(run, 0, 'Done.');
    expect(await records.readSteps([run.runId])).toEqual([{ text: 'Done.', calls: [call('c1')] }]);
    await until(() => entries().length === 4);
    expect(entries()).toMatchObject([
      { kind: 'piece' },
      { kind: 'step', groupId: 'group-1', runId: run.runId },
      { kind: 'activity', groupId: 'group-1', call: call('c1') },
      { kind: 'piece', offset: 0, text: 'Done.' },
    ]);
  });

  it('a conversation is told by the events given', async () => {
    const run = newRun();
    const entries = await seen();
    const data = { state: 'iteration_step', runId: run.runId };
    const event = { kind: 'bot', bot: 'writer', botId: 'bot-1', sessionKey: 'ios:a' } as const;
    await records.addStep(run, [{ ...event, type: 'chat', data }]);
    await until(() => entries().length === 1);
    expect(entries()).toEqual([{ ...event, type: 'chat', data }]);
  });

  it('a newer attempt begins without the calls of the older one, which can add none', async () => {
    const group = { groupId: 'group-1', runId: 'group-run-3' };
    const [old, next] = [newRun(1, group), newRun(2, group)];
    const taken = { ...next, runId: old.runId };
    await records.addCall(old, { call: call('c1'), calls: [call('c1')] }, []);
    const entries = await seen();
    await records.take(taken);
    await until(() => entries().length === 1);
    expect(entries()).toMatchObject([{ kind: 'step', anew: true }]);
    const late = { call: call('c1', 'completed'), calls: [call('c1', 'completed')] };
    expect(await records.addCall(old, late, [])).toEqual({ refused: 'stale' });
    expect(await records.addStep(old, [])).toEqual({ refused: 'stale' });
    expect(await records.readSteps([old.runId])).toEqual([{ text: '', calls: [] }]);
  });

  const progress = (run: LiveRun, id: string, revision: number): ChatToolProgress => ({
    state: 'tool_progress',
    runId: run.runId,
    sessionKey: run.sessionKey,
    iterationIdx: 0,
    revision,
    call: {
      id,
      index: 0,
      name: 'exec',
      arguments: '{}',
      argumentsTruncated: false,
      state: 'running',
    },
  });

  it('a snapshot is text, steps and the newest of each call at one event of the stream', async () => {
    const run = newRun();
    expect(await records.snapshot(run)).toMatchObject({ isThere: false, ended: false, text: '' });
    await records.addPiece(run, 0, 'Let me look. ');
    await records.addStep(run, [], 0);
    for (const [id, revision] of [
      ['c1', 1],
      ['c2', 3],
      ['c1', 2],
    ] as const) {
      const noted = { call: call(id), calls: [call(id)], steps: { before: 1, after: 1 } };
      await records.addCall(run, { ...noted, progress: progress(run, id, revision) }, []);
    }
    const last = await records.addPiece(run, 0, 'Done.', 1);
    expect(await records.snapshot(run)).toEqual({
      after: 'id' in last ? last.id : '',
      isThere: true,
      ended: false,
      text: 'Done.',
      steps: { count: 1, progress: [progress(run, 'c1', 2), progress(run, 'c2', 3)] },
    });
    const forgotten = { call: call('c3'), calls: [], steps: { before: 1, after: 2 }, forget: 'c1' };
    await records.addCall(run, forgotten, []);
    const { steps } = await records.snapshot(run);
    expect(steps).toEqual({ count: 2, progress: [progress(run, 'c2', 3)] });
  });

  it('a snapshot says that the terminal is told, and an ended run keeps nothing', async () => {
    const run = newRun();
    const noted = { call: call('c1'), calls: [call('c1')], progress: progress(run, 'c1', 1) };
    await records.addCall(run, noted, []);
    const final = { kind: 'bot', bot: 'writer', botId: 'bot-1', sessionKey: 'ios:a' } as const;
    const publisher = new EventPublisher(bus.redis, bus.keys);
    const id = await publisher.publish(
      'db-of-snapshot',
      1,
      { ...final, type: 'chat', data: {} },
      {
        closed: [ref(run)],
      },
    );
    expect(await records.snapshot(run)).toEqual({
      after: id,
      isThere: true,
      ended: true,
      text: '',
      steps: { count: 0, progress: [] },
    });
  });

  it('takes a step once, and nothing from a writer who has told more than it knows', async () => {
    const run = newRun();
    expect(await records.addStep(run, [], 0)).toHaveProperty('id');
    expect(await records.addStep(run, [], 0)).toEqual({ refused: 'old' });
    const { events } = await bus.tail();
    expect(await records.addStep(run, [], 2)).toEqual({ refused: 'gap' });
    expect(await records.addPiece(run, 0, 'lost', 2)).toEqual({ refused: 'gap' });
    const late = { call: call('c1'), calls: [], steps: { before: 2, after: 3 } };
    expect(await records.addCall(run, late, [])).toEqual({ refused: 'gap' });
    expect(events).toEqual([]);
  });

  it('what tools do is refused while frozen, and stays readable', async () => {
    const group = { groupId: 'group-1', runId: 'group-run-4' };
    const run = newRun(1, group);
    await records.addCall(run, { call: call('c1'), calls: [call('c1')] }, []);
    expect(await records.freeze(group.runId, [run.runId])).toEqual([
      { text: '', calls: [call('c1')] },
    ]);
    expect(await records.addStep(run, [])).toEqual({ refused: 'frozen' });
    await records.unfreeze(group.runId);
  });

  it('an event of a group brings texts and calls of its active members', async () => {
    const run = newRun(1, { groupId: 'group-1', runId: 'group-run-5' });
    await records.addPiece(run, 0, 'So ');
    await records.addCall(run, { call: call('c1'), calls: [call('c1')] }, []);
    const { events } = await bus.tail();
    const publisher = new EventPublisher(bus.redis, bus.keys);
    const shown = [
      { member: 'writer', stepKey: run.runId },
      { member: 'default', stepKey: 'nothing yet' },
    ];
    const event = { kind: 'group', groupId: 'group-1', type: 'updated' } as const;
    await publisher.publish('db-of-group', 1, event, { shown });
    await until(() => events.length === 1);
    expect({ ...events[0]?.texts }).toEqual({ writer: 'So ' });
    expect({ ...events[0]?.calls }).toEqual({ writer: [call('c1')] });
  });
});
