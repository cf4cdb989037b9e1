import { groupSessionKey } from '@flowly/contract';
import { acceptRun, claimRun, findRun } from '@flowly/store';
import { Gate, type Answer, type ScriptedModelServer } from '@flowly/testing';
import { database, Talk, useModelServer } from '../conversation.harness';
import { call, RunnerWorld, until } from '../runner.harness';
import type { Runner } from '../runner';
import { reconcileBots } from '../turns/reconciler';

let world: RunnerWorld;
let models: ScriptedModelServer;
let runner: Runner;
let talk: Talk;
beforeEach(async () => {
  world = await RunnerWorld.start();
  models = await useModelServer(world);
  runner = await world.runner();
  talk = new Talk(world);
});
afterEach(async () => {
  await models.close();
  await world.stop();
});

const CANCELLED = { result: { ok: true, cancelled: true } };
const NOT_CANCELLED = { result: { ok: true, cancelled: false } };

/** The last answer, and that the run has ended as aborted, once, with this text. */
async function isAborted(runId: string, text: string): Promise<void> {
  await talk.ended(runId);
  await until(async () => (await talk.state(runner, runId)) === 'aborted');
  await until(() => runner.turns.count === 0);
  await runner.relays.of(await database(runner)).drain();
  expect(talk.terminals(runId)).toMatchObject([
    { state: 'final', aborted: true, message: { content: [{ type: 'text', text }] } },
  ]);
}

const lastAnswer = async (count: number) => (await talk.answered(count)).at(-1);
const tool = (name: string, args: Record<string, unknown>): Answer => ({
  text: 'Let me see. ',
  toolCalls: [{ name, arguments: args }],
});

it('before its send: it is unknown, and the send then asks no model', async () => {
  await talk.abort(runner, 'r1', { sessionKey: talk.sessionKey });
  expect(await lastAnswer(1)).toEqual(NOT_CANCELLED);
  await talk.send(runner, 'r1');
  await isAborted('r1', '');
  expect(models.calls).toEqual([]);
});

it('while it waits: it ends at once with empty text, and the one behind it goes on', async () => {
  const gate = new Gate();
  models.script('m', [{ gate: gate.opened, text: 'first' }, 'third']);
  for (const runId of ['r1', 'r2', 'r3']) await talk.send(runner, runId);
  await talk.abort(runner, 'r2');
  expect(await lastAnswer(4)).toEqual(CANCELLED);
  await talk.ended('r2');
  expect(talk.terminals('r1')).toEqual([]);
  gate.open();
  await world.takeTurns(runner);
  await talk.ended('r1', 'r3');
  await isAborted('r2', '');
  expect(models.calls).toHaveLength(2);
});

it('claimed and not yet asked, by a runner that dies: who takes it up asks no model', async () => {
  const none = await world.runner(1);
  await talk.send(none, 'r1');
  const bot = await database(runner);
  const aliveUntil = Date.now() - 1;
  await bot.write(() => claimRun(bot, 'r1', { owner: 'dead', at: 1, aliveUntil }));
  await talk.abort(runner, 'r1');
  expect(await lastAnswer(2)).toEqual(CANCELLED);
  await reconcileBots(runner);
  await world.takeTurns(runner);
  await isAborted('r1', '');
  expect(models.calls).toEqual([]);
});

it.each<[string, Answer, string]>([
  ['asked, before a word', { fault: { kind: 'hang-before-headers' } }, ''],
  ['in its words', { text: ['so ', 'far'], fault: { kind: 'hang' } }, 'so far'],
])('%s: the text so far is the answer', async (_, answer, text) => {
  models.script('m', [answer]);
  await talk.send(runner, 'r1');
  await models.waitForCalls(1);
  await until(() =>
    world.events
      .map(({ event }) => event)
      .join()
      .includes(text.slice(-3)),
  );
  await talk.abort(runner, 'r1');
  expect(await lastAnswer(2)).toEqual(CANCELLED);
  await isAborted('r1', text);
});

it('in a tool: the tool ends, and no model is asked again', async () => {
  await call(runner, 'exec.policy.set', { security: 'full', ask: 'off' });
  models.script('m', [tool('exec', { command: 'sleep 60' }), 'never']);
  await talk.send(runner, 'r1');
  await until(() => world.events.some(({ event }) => event.includes('"tool.start"')));
  await talk.abort(runner, 'r1');
  expect(await lastAnswer(3)).toEqual(CANCELLED);
  await isAborted('r1', '');
  expect(world.events.some(({ event }) => event.includes('"tool.complete"'))).toBe(true);
  expect(models.calls).toHaveLength(1);
});

it('while it waits for a person: the question is cancelled', async () => {
  models.script('m', [tool('clarify', { question: 'Which?' }), 'never']);
  await talk.send(runner, 'r1');
  await until(() => world.events.some(({ event }) => event.includes('clarify.requested')));
  await talk.abort(runner, 'r1');
  expect(await lastAnswer(2)).toEqual(CANCELLED);
  await isAborted('r1', '');
  expect(world.events.some(({ event }) => event.includes('"cancelled"'))).toBe(true);
  expect(await call(runner, 'agent.clarify.list', {})).toMatchObject({ result: { clarifies: [] } });
});

it('one that has ended, is unknown, or belongs to another session is left alone', async () => {
  const gate = new Gate();
  models.script('m', ['first', { gate: gate.opened, text: 'second' }]);
  await talk.send(runner, 'r1');
  await talk.ended('r1');
  await talk.send(runner, 'r2');
  await talk.abort(runner, 'r1');
  await talk.abort(runner, 'nobody');
  await talk.abort(runner, 'r2', { sessionKey: 'desktop:other' });
  expect((await talk.answered(5)).slice(2)).toEqual([NOT_CANCELLED, NOT_CANCELLED, NOT_CANCELLED]);
  gate.open();
  await talk.ended('r2');
  for (const runId of ['r1', 'r2']) expect(talk.terminals(runId)).toHaveLength(1);
  expect(talk.terminals('r2')[0]).not.toHaveProperty('aborted');
});

it('twice: both are told that it is cancelled, and it ends once', async () => {
  models.script('m', [{ text: ['so far'], fault: { kind: 'hang' } }]);
  await talk.send(runner, 'r1');
  await models.waitForCalls(1);
  await Promise.all([talk.abort(runner, 'r1'), talk.abort(await world.runner(), 'r1')]);
  const answers = (await talk.answered(3)).slice(1);
  expect(answers).toContainEqual(CANCELLED);
  await talk.ended('r1');
  await until(() => runner.turns.count === 0);
  expect(talk.terminals('r1')).toHaveLength(1);
});

it('of a step of a group: clients know of no such run, and it goes on', async () => {
  const bot = await database(runner);
  const step = { stepKey: 'k1', groupId: 'g', runId: 'r', bot: 'default' };
  await bot.write(() =>
    acceptRun(bot, {
      runId: 'k1',
      sessionKey: groupSessionKey('g'),
      origin: 'group',
      fingerprint: '',
      message: 'prompt',
      modelOverride: null,
      step,
      at: 1,
    }),
  );
  await talk.abort(runner, 'k1');
  expect(await lastAnswer(1)).toEqual(NOT_CANCELLED);
  expect(findRun(bot, 'k1')).toMatchObject({ state: 'accepted', abortRequested: false });
});

it('messages to a busy session are answered in the order accepted, across two runners', async () => {
  const other = await world.runner();
  const gate = new Gate();
  const count = 8;
  models.script('m', [
    { gate: gate.opened, text: 'a0' },
    ...Array.from({ length: count }, (_, n) => `a${n + 1}`),
  ]);
  for (const each of [runner, other]) await world.takeTurns(each);
  const ids = Array.from({ length: count }, (_, n) => `r${n}`);
  for (const [n, runId] of ids.entries()) await talk.send(n % 2 === 0 ? runner : other, runId);
  gate.open();
  await talk.ended(...ids);
  const rows = (await database(runner)).all(
    "SELECT run_id, role, payload ->> '$.text' AS text FROM messages ORDER BY id",
  );
  expect(rows).toEqual(
    ids.flatMap((run_id, n) => [
      { run_id, role: 'user', text: `question ${run_id}` },
      { run_id, role: 'assistant', text: `a${n}` },
    ]),
  );
});
