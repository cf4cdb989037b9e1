import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gate, type ServiceName } from '@flowly/testing';
import { Conversation, textOf } from './support/conversation';
import { loseRedis } from './support/lose-redis';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

/** A bot's own conversation while services die. */
const world = useWorld({
  bots: ['writer', 'editor', 'reader'],
  limits: QUICK_CLOCKS,
});

const converse = () => new Conversation(world.client, `desktop:${randomUUID()}`, 'rpc', 'writer');

it('a turn whose runner dies starts again, and the window shows exactly the final text', async () => {
  const chat = converse();
  const gate = new Gate();
  world.models.script('writer', [
    { text: ['half an ', 'answer', gate.opened] },
    { text: 'the whole answer', tokenDelayMs: 10 },
  ]);
  const { runId } = await chat.send('Hello');
  await chat.shows(runId, 'half an answer');
  await world.system.service('bot-runner').restart();
  const final = await chat.terminal(runId, 20_000);
  gate.open();
  expect(textOf(final)).toBe('the whole answer');
  const step = world.client.events.findIndex(
    ({ event, data }) =>
      event === 'profile.event' &&
      data?.type === 'chat' &&
      data.data.state === 'iteration_step' &&
      data.data.runId === runId,
  );
  expect(world.client.events[step]).toMatchObject({
    data: { data: { role: 'assistant', content: 'half an answer', tool_calls: [] } },
  });
  expect(chat.pieces(runId, step).join('')).toBe('the whole answer');
  expect(chat.terminals(runId)).toHaveLength(1);
  expect(await chat.transcript()).toEqual(['user: Hello', 'assistant: the whole answer']);
  expect((await chat.send('Hello', { idempotencyKey: runId })).status).toBe('completed');
});

it('messages that wait are answered in order after the runner died', async () => {
  const chat = converse();
  const gate = new Gate();
  world.models.script('writer', [{ gate: gate.opened, text: 'never' }, 'one', 'two', 'three']);
  const asked = world.models.callsOf('writer').length;
  const runs = [];
  for (const question of ['1', '2', '3']) runs.push((await chat.send(question)).runId);
  await world.models.waitForCalls(asked + 1, { model: 'writer' });
  await world.system.service('bot-runner').restart();
  for (const runId of runs) await chat.terminal(runId, 20_000);
  gate.open();
  expect(await chat.transcript()).toEqual([
    'user: 1',
    'assistant: one',
    'user: 2',
    'assistant: two',
    'user: 3',
    'assistant: three',
  ]);
});

it('an abort that was answered holds, whoever dies then', async () => {
  const chat = converse();
  world.models.script('writer', [
    { fault: { kind: 'hang-before-headers' } },
    { fault: { kind: 'hang-before-headers' } },
  ]);
  const { runId } = await chat.send('Hello');
  const waiting = await chat.send('Wait');
  const aborted = await Promise.all([chat.abort(runId), chat.abort(waiting.runId)]);
  expect(aborted).toEqual([
    { ok: true, cancelled: true },
    { ok: true, cancelled: true },
  ]);
  await world.system.service('bot-runner').restart();
  for (const each of [runId, waiting.runId])
    expect(await chat.terminal(each, 20_000)).toMatchObject({ state: 'final', aborted: true });
  expect((await chat.send('Wait', { idempotencyKey: waiting.runId })).status).toBe('aborted');
});

it.each<ServiceName>(['gateway', 'bot-runner'])(
  'a receipt outlives the %s and the loss of Redis',
  async (name) => {
    const chat = converse();
    world.models.script('writer', ['Once']);
    const idempotencyKey = randomUUID();
    await chat.send('Hello', { idempotencyKey });
    await chat.terminal(idempotencyKey);
    const asked = world.models.calls.length;
    await loseRedis(world.system, world.client);
    await world.system.service(name).restart();
    await world.system.ready();
    const later = chat.through(await world.connect());
    expect(await later.send('Hello', { idempotencyKey })).toEqual({
      runId: idempotencyKey,
      status: 'completed',
      replayed: true,
    });
    expect(world.models.calls).toHaveLength(asked);
    expect(await later.transcript()).toEqual(['user: Hello', 'assistant: Once']);
    await world.reconnect();
  },
);

it('a send whose answer was lost is not done twice when it is sent again', async () => {
  const chat = converse();
  world.models.script('writer', ['Only one']);
  const idempotencyKey = randomUUID();
  const first = chat.send('Hello', { idempotencyKey }).catch(() => undefined);
  await world.system.service('gateway').restart();
  await first;
  await world.system.ready();
  const later = chat.through(await world.connect());
  const receipt = await later.send('Hello', { idempotencyKey });
  expect(receipt.runId).toBe(idempotencyKey);
  if (receipt.status !== 'completed') await later.terminal(idempotencyKey);
  expect(await later.transcript()).toEqual(['user: Hello', 'assistant: Only one']);
  await world.reconnect();
});

const seed = seedOfThisRun();

/** What windows are told is held against the invariants of runs by the clients themselves. */
it(`answers with tools that a runner leaves at any point come once, alike in every window (E2E_SEED=${seed})`, async () => {
  const words = Array.from({ length: 30 }, (_, index) => `word${index} `);
  world.models.answer(({ messages }) => {
    const looks = [{ name: 'list_dir', arguments: { path: '.' } }];
    return messages.at(-1)?.role === 'tool'
      ? { text: words, tokenDelayMs: 8 }
      : { text: ['Let ', 'me ', 'look. '], tokenDelayMs: 8, toolCalls: looks };
  });
  const window = await world.connect();
  const chats = ['editor', 'reader', 'editor', 'reader', 'editor'].map(
    (bot) => new Conversation(world.client, `desktop:${randomUUID()}`, 'rpc', bot),
  );
  const asked = await Promise.all(
    chats.map(async (chat) => {
      await chat.through(window).history();
      const runs = [await chat.send('One'), await chat.send('Two')];
      return { chat, runIds: runs.map(({ runId }) => runId) };
    }),
  );
  await sleep(randomBy(seed)() * 800);
  await world.system.service('bot-runner').restart();
  for (const { chat, runIds } of asked) {
    for (const runId of runIds) {
      expect(textOf(await chat.terminal(runId, 20_000))).toBe(words.join(''));
      await chat.through(window).terminal(runId);
      expect(chat.through(window).pieces(runId).join('')).toBe(chat.pieces(runId).join(''));
    }
    const { messages } = await chat.history();
    const roles = ['user', 'assistant', 'tool', 'assistant'];
    expect(messages.map(({ role }) => role)).toEqual([...roles, ...roles]);
  }
});
