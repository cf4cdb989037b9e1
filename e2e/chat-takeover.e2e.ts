import { randomUUID } from 'node:crypto';
import { Gate, type ServiceName } from '@flowly/testing';
import { Conversation, textOf } from './support/conversation';
import { loseRedis } from './support/lose-redis';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { useWorld } from './support/world';

/** A bot's own conversation while services die. */
const world = useWorld({
  bots: ['writer'],
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
