import fc from 'fast-check';
import { setTimeout as delay } from 'node:timers/promises';
import { streamEventSchema, type LiveCall } from '@flowly/contract';
import type { LiveRun } from '@flowly/bus';
import { AgentWorld, until } from './agent.harness';
import { PiecePump, type Refusal } from './piece-pump';
import type { CallTold } from './told-steps';

const EVERY_MS = 20;

let world: AgentWorld;
let runs = 0;
beforeAll(async () => {
  world = await AgentWorld.start();
});
afterAll(() => world.stop());

/** A run of its own for each test, so that they share a Redis. */
function newRun(): LiveRun {
  const group = { groupId: 'g', runId: `group-run-${++runs}` };
  return { bot: 'w', botId: 'b', sessionKey: 's', runId: `run-${runs}`, epoch: 1, group };
}

function pumpOf(run: LiveRun, before: Promise<void> = Promise.resolve()) {
  const refusals: Refusal[] = [];
  const errors: unknown[] = [];
  const pump = new PiecePump(
    world.bus.live,
    run,
    EVERY_MS,
    () => before,
    (refusal) => refusals.push(refusal),
    (error) => errors.push(error),
  );
  return { pump, refusals, errors };
}

async function record({ botId, runId, group }: LiveRun): Promise<string> {
  const groupId = group?.groupId ?? '';
  return (await world.bus.live.read({ botId, runId, groupId })).text;
}

async function piecesOf({ runId }: LiveRun) {
  const entries = await world.bus.redis.xrange(world.bus.keys.events, '-', '+');
  return entries
    .map(([, fields]) => streamEventSchema.parse(JSON.parse(fields[1] ?? '')))
    .flatMap((event) => (event.kind === 'piece' && event.runId === runId ? [event] : []));
}

it('writes the first piece at once and what comes within the interval as one', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  pump.push('a');
  await until(async () => (await record(run)) === 'a');
  const rest = 'b'.repeat(100);
  for (const letter of rest) pump.push(letter);
  await pump.finish();
  expect(await record(run)).toBe(`a${rest}`);
  const pieces = await piecesOf(run);
  expect(pieces[0]).toMatchObject({ offset: 0, text: 'a' });
  // One at once if the interval is over by now, and what came meanwhile.
  expect(pieces.length).toBeLessThanOrEqual(3);
  expect(pieces.map(({ text }) => text).join('')).toBe(`a${rest}`);
});

it('writes nothing before what must be out first', async () => {
  const run = newRun();
  let open: () => void = () => undefined;
  const { pump } = pumpOf(run, new Promise((resolve) => (open = resolve)));
  pump.push('a');
  await delay(EVERY_MS * 2);
  expect(await record(run)).toBe('');
  open();
  await pump.finish();
  expect(await record(run)).toBe('a');
});

it('never splits a surrogate pair', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  for (const half of '😀 😀😀'.split('')) {
    pump.push(half);
    await delay(EVERY_MS / 3);
  }
  await pump.finish();
  for (const { text } of await piecesOf(run)) expect(text.isWellFormed()).toBe(true);
  expect(await record(run)).toBe('😀 😀😀');
});

it('writes the record anew when Redis has lost it', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  pump.push('lost ');
  await until(async () => (await record(run)) === 'lost ');
  await world.bus.redis.flushall();
  pump.push('and found');
  await pump.finish();
  expect(await record(run)).toBe('lost and found');
  expect(await piecesOf(run)).toMatchObject([{ offset: 0, text: 'lost and found' }]);
});

it('goes on when a write went out twice because its answer was lost', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  pump.push('a');
  await until(async () => (await record(run)) === 'a');
  // As after a resent command: the record is ahead of what the pump knows.
  await world.bus.live.addPiece(run, 1, 'b');
  pump.push('b');
  pump.push('c');
  await pump.finish();
  expect(await record(run)).toBe('abc');
});

it('leaves a frozen record alone and goes on when it thaws', async () => {
  const run = newRun();
  const { pump, refusals } = pumpOf(run);
  pump.push('before ');
  await until(async () => (await record(run)) === 'before ');
  const groupRun = run.group?.runId ?? '';
  expect(await world.bus.live.freeze(groupRun, [run.runId])).toEqual([
    { text: 'before ', calls: [] },
  ]);
  pump.push('while frozen ');
  await delay(EVERY_MS * 3);
  expect(await record(run)).toBe('before ');
  await world.bus.live.unfreeze(groupRun);
  await until(async () => (await record(run)) === 'before while frozen ');
  pump.push('after');
  await pump.finish();
  expect(await record(run)).toBe('before while frozen after');
  expect(refusals).toEqual([]);
});

it('says that it is stale when a newer attempt has the record, and writes no more', async () => {
  const run = newRun();
  const { pump, refusals } = pumpOf(run);
  pump.push('old');
  await until(async () => (await record(run)) === 'old');
  await world.bus.live.take({ ...run, epoch: 2 });
  pump.push(' text');
  await until(() => refusals.length > 0);
  pump.push(' more');
  await pump.finish();
  expect(refusals).toEqual(['stale']);
  expect(await record(run)).toBe('');
});

it('whatever the timing and however often connections break or data is lost, the record is the text', async () => {
  const step = fc.record({
    text: fc.string({ unit: 'binary', maxLength: 4 }),
    waitMs: fc.nat(8),
    trouble: fc.option(fc.constantFrom('connections', 'data'), { freq: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const run = newRun();
      const { pump } = pumpOf(run);
      for (const { text, waitMs, trouble } of steps) {
        for (const half of text.split('')) pump.push(half);
        if (trouble === 'connections') await breakConnections();
        if (trouble === 'data') await world.bus.redis.flushall();
        await delay(waitMs);
      }
      await pump.finish();
      const whole = steps.map(({ text }) => text).join('');
      // Data lost after the last write is written anew with the next one only.
      if (steps.every(({ trouble }) => trouble !== 'data')) {
        expect(await record(run)).toBe(whole);
      }
      pump.push('.');
      await pump.finish();
      expect(await record(run)).toBe(`${whole}.`);
    }),
    { numRuns: 25 },
  );
}, 20_000);

/** Breaks the connection that writes, in whatever it is doing. */
async function breakConnections(): Promise<void> {
  const killer = world.bus.redis.duplicate();
  const id = await world.bus.redis.client('ID');
  await killer.client('KILL', 'ID', id);
  killer.disconnect();
}

const call = (id: string, state: LiveCall['state']): LiveCall => ({
  id,
  name: 'exec',
  argumentsJson: '{}',
  state,
  startedAt: 1,
});
const whole = ({ runId }: LiveRun) => world.bus.live.readSteps([runId]);

it('a step begins a new text when all before it is there, and calls stay', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  pump.push('Let me ');
  pump.push('look.');
  await pump.step([]);
  expect(pump.text).toBe('');
  expect((await piecesOf(run)).map(({ text }) => text).join('')).toBe('Let me look.');
  await pump.call(call('c1', 'running'), { events: [] });
  expect(await whole(run)).toEqual([{ text: '', calls: [call('c1', 'running')] }]);
  await pump.call(call('c1', 'completed'), { events: [] });
  pump.push('Done.');
  await pump.finish();
  expect(await whole(run)).toEqual([{ text: 'Done.', calls: [call('c1', 'completed')] }]);
});

it('keeps the eight newest calls', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  for (let index = 0; index < 10; index++)
    await pump.call(call(`c${index}`, 'completed'), { events: [] });
  expect(pump.calls.map(({ id }) => id)).toEqual(['c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9']);
});

it('writes text and calls anew after Redis has lost them', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  await pump.call(call('c1', 'running'), { events: [] });
  pump.push('one ');
  await pump.finish();
  await world.bus.redis.flushall();
  pump.push('two');
  await pump.finish();
  expect(await whole(run)).toEqual([{ text: 'one two', calls: [call('c1', 'running')] }]);
});

it('a step that a frozen record does not take shows as soon as words follow', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  pump.push('before ');
  await pump.finish();
  const groupRun = run.group?.runId ?? '';
  await world.bus.live.freeze(groupRun, [run.runId]);
  await pump.step([]);
  await world.bus.live.unfreeze(groupRun);
  pump.push('after');
  await pump.finish();
  expect(await record(run)).toBe('after');
});

const told = (id: string, revision: number): CallTold => ({
  events: [],
  progress: {
    state: 'tool_progress',
    runId: 'r',
    sessionKey: 's',
    iterationIdx: 0,
    revision,
    call: {
      id,
      index: 0,
      name: 'exec',
      arguments: '',
      argumentsTruncated: false,
      state: 'running',
    },
  },
});

it('tells steps and the progress of calls, and writes them anew when Redis has lost them', async () => {
  const run = { ...newRun(), group: undefined };
  const { pump } = pumpOf(run);
  const shown = async () => (await world.bus.live.snapshot(run)).steps;
  await pump.step([]);
  await pump.call(call('c1', 'running'), told('c1', 1));
  await pump.call(call('c1', 'completed'), { ...told('c1', 2), endsStep: true });
  const whole = { count: 2, progress: [told('c1', 2).progress] };
  expect(await shown()).toEqual(whole);
  await world.bus.redis.flushall();
  await pump.keep();
  expect(await shown()).toEqual(whole);
  await world.bus.redis.flushall();
  await pump.call(call('c2', 'running'), told('c2', 3));
  expect(await shown()).toEqual({
    count: 2,
    progress: [...whole.progress, told('c2', 3).progress],
  });
  await world.bus.redis.flushall();
  pump.push('Done.');
  await pump.finish();
  expect(await shown()).toMatchObject({ count: 2, progress: [{ revision: 2 }, { revision: 3 }] });
});

it('keeps the progress of the 64 newest calls', async () => {
  const run = { ...newRun(), group: undefined };
  const { pump } = pumpOf(run);
  for (let index = 0; index < 66; index++)
    await pump.call(call(`c${index}`, 'running'), told(`c${index}`, index));
  const { steps } = await world.bus.live.snapshot(run);
  expect(steps.progress.map(({ call: { id } }) => id)).toEqual(
    Array.from({ length: 64 }, (_, index) => `c${index + 2}`),
  );
});

it('keeps the calls of a turn that waits when Redis loses them', async () => {
  const run = newRun();
  const { pump } = pumpOf(run);
  await pump.step([]);
  await pump.call(call('c1', 'running'), { events: [] });
  await pump.keep();
  await world.bus.redis.flushall();
  await pump.keep();
  expect(await whole(run)).toEqual([{ text: '', calls: [call('c1', 'running')] }]);
  pump.push('Done.');
  await pump.finish();
  expect(await whole(run)).toMatchObject([{ text: 'Done.' }]);
});
