import { randomUUID } from 'node:crypto';
import { Gate } from '@flowly/testing';
import { Conversation, textOf, type Way } from './support/conversation';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });

/** A new session of `default`, or of `writer` where only `profiles.rpc` leads. */
const converse = (way: Way, bot = 'default') =>
  new Conversation(world.client, `desktop:${randomUUID()}`, way, bot);

const words = (count: number) =>
  Array.from({ length: count }, (_, index) => `word-${index}`).join(' ');

describe.each<[Way, string]>([
  ['straight', 'default'],
  ['rpc', 'default'],
  ['rpc', 'writer'],
])('%s to %s', (way, bot) => {
  it('streams an answer whose pieces are exactly the final text', async () => {
    const chat = converse(way, bot);
    world.models.script(bot, [{ text: words(30), tokenDelayMs: 8 }]);
    const receipt = await chat.send('Hello');
    expect(receipt).toEqual({ runId: expect.any(String), status: 'accepted' });
    const final = await chat.terminal(receipt.runId);
    expect(textOf(final)).toBe(words(30));
    const pieces = chat.pieces(receipt.runId);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join('')).toBe(words(30));
    expect(final).toMatchObject({
      model: bot,
      message: { usage: { prompt_tokens: 10, completion_tokens: 30, total_tokens: 40 } },
    });
    expect(final).not.toHaveProperty('aborted');
    expect(chat.terminals(receipt.runId)).toHaveLength(1);
    expect(await chat.transcript()).toEqual(['user: Hello', `assistant: ${words(30)}`]);
  });

  it('has stored the answer and settled the receipt before the final is sent', async () => {
    const chat = converse(way, bot);
    world.models.script(bot, ['Stored']);
    const { runId } = await chat.send('Hello');
    await chat.terminal(runId);
    expect(await chat.transcript()).toEqual(['user: Hello', 'assistant: Stored']);
    const replay = await chat.send('Hello', { idempotencyKey: runId });
    expect(replay.status).toBe('completed');
  });

  it('answers the same key and content from the receipt and runs nothing', async () => {
    const chat = converse(way, bot);
    const gate = new Gate();
    world.models.script(bot, [{ gate: gate.opened, text: 'Once' }]);
    const idempotencyKey = `key-${randomUUID()}`;
    const first = await chat.send('Hello', { idempotencyKey });
    expect(first).toEqual({ runId: idempotencyKey, status: 'accepted' });
    const before = (await world.models.waitForCalls(1, { model: bot })).length;
    const again = await chat.send('Hello', { idempotencyKey });
    expect(again).toMatchObject({ runId: idempotencyKey, replayed: true });
    expect(['accepted', 'running']).toContain(again.status);
    gate.open();
    await chat.terminal(idempotencyKey);
    expect(await chat.send('Hello', { idempotencyKey })).toEqual({
      runId: idempotencyKey,
      status: 'completed',
      replayed: true,
    });
    expect(world.models.callsOf(bot).length - before).toBeLessThanOrEqual(1);
    expect(await chat.transcript()).toEqual(['user: Hello', 'assistant: Once']);
    expect(chat.terminals(idempotencyKey)).toHaveLength(1);
  });

  it('refuses the same key with other content or another session', async () => {
    const chat = converse(way, bot);
    world.models.script(bot, ['Once']);
    const idempotencyKey = `key-${randomUUID()}`;
    await chat.send('Hello', { idempotencyKey });
    await chat.terminal(idempotencyKey);
    const conflict = { code: 'IDEMPOTENCY_CONFLICT', retryable: false };
    await expect(chat.send('Other', { idempotencyKey })).rejects.toMatchObject(conflict);
    await expect(converse(way, bot).send('Hello', { idempotencyKey })).rejects.toMatchObject(
      conflict,
    );
    expect(await chat.transcript()).toEqual(['user: Hello', 'assistant: Once']);
  });

  it('takes messages while busy and answers them in order', async () => {
    const chat = converse(way, bot);
    const gate = new Gate();
    world.models.script(bot, [
      { gate: gate.opened, text: 'answer 0' },
      ...[1, 2, 3].map((index) => `answer ${index}`),
    ]);
    const sends = [0, 1, 2, 3].map((index) => chat.send(`question ${index}`));
    const runs = (await Promise.all(sends)).map(({ runId }) => runId);
    gate.open();
    for (const runId of runs) await chat.terminal(runId);
    expect(await chat.transcript()).toEqual(
      [0, 1, 2, 3].flatMap((index) => [`user: question ${index}`, `assistant: answer ${index}`]),
    );
    const ended = chat.chatEvents.filter(({ runId }) => runs.includes(runId));
    expect(ended.map(({ runId }) => runId)).toEqual(runs);
  });

  it('another session does not wait for a busy one', async () => {
    const gate = new Gate();
    world.models.script(bot, [{ gate: gate.opened, text: 'late' }, 'soon']);
    const [busy, free] = [converse(way, bot), converse(way, bot)];
    const calls = world.models.callsOf(bot).length;
    const held = await busy.send('wait');
    await world.models.waitForCalls(calls + 1, { model: bot });
    const { runId } = await free.send('quick');
    expect(textOf(await free.terminal(runId))).toBe('soon');
    expect(busy.terminals(held.runId)).toEqual([]);
    gate.open();
    await busy.terminal(held.runId);
  });

  it('abort ends a running turn with the text so far', async () => {
    const chat = converse(way, bot);
    const gate = new Gate();
    world.models.script(bot, [{ text: ['so ', 'far', gate.opened, ' never'] }, 'next']);
    const { runId } = await chat.send('Hello');
    await chat.shows(runId, 'so far');
    expect(await chat.abort(runId, { sessionKey: chat.sessionKey })).toEqual({
      ok: true,
      cancelled: true,
    });
    const final = await chat.terminal(runId);
    expect(final).toMatchObject({ state: 'final', aborted: true });
    expect(textOf(final)).toBe('so far');
    gate.open();
    expect(await chat.abort(runId)).toEqual({ ok: true, cancelled: false });
    const next = await chat.send('And now?');
    await chat.terminal(next.runId);
    const { messages } = await chat.history();
    expect(messages[1]).toMatchObject({ role: 'assistant', aborted: true, runId });
    expect(await chat.transcript()).toEqual([
      'user: Hello',
      'assistant: so far',
      'user: And now?',
      'assistant: next',
    ]);
    expect(chat.terminals(runId)).toHaveLength(1);
  });

  it('abort ends a waiting turn with empty text, and it never asks the model', async () => {
    const chat = converse(way, bot);
    const gate = new Gate();
    world.models.script(bot, [{ gate: gate.opened, text: 'first' }, 'never']);
    const before = world.models.callsOf(bot).length;
    const running = await chat.send('one');
    const waiting = await chat.send('two');
    expect(await chat.abort(waiting.runId)).toEqual({ ok: true, cancelled: true });
    const final = await chat.terminal(waiting.runId);
    expect(final).toMatchObject({ state: 'final', aborted: true });
    expect(textOf(final)).toBe('');
    gate.open();
    await chat.terminal(running.runId);
    expect(world.models.callsOf(bot).length - before).toBe(1);
    expect((await chat.send('two', { idempotencyKey: waiting.runId })).status).toBe('aborted');
  });

  it('an abort right behind its send ends that turn; one of an unknown run changes nothing', async () => {
    const chat = converse(way, bot);
    world.models.script(bot, [{ fault: { kind: 'hang-before-headers' } }]);
    const idempotencyKey = `key-${randomUUID()}`;
    const [receipt, aborted] = await Promise.all([
      chat.send('Hello', { idempotencyKey }),
      chat.abort(idempotencyKey),
    ]);
    expect(receipt.status).toBe('accepted');
    expect(aborted).toEqual({ ok: true, cancelled: true });
    expect(await chat.terminal(idempotencyKey)).toMatchObject({ state: 'final', aborted: true });
    expect(await chat.abort(`unknown-${randomUUID()}`)).toEqual({ ok: true, cancelled: false });
  });

  it('two windows see the same stream, whole and once', async () => {
    const chat = converse(way, bot);
    const window = chat.through(await world.connect());
    await window.history();
    world.models.script(bot, [{ text: words(20), tokenDelayMs: 5 }]);
    const { runId } = await chat.send('Hello');
    for (const each of [chat, window]) {
      expect(textOf(await each.terminal(runId))).toBe(words(20));
      expect(each.pieces(runId).join('')).toBe(words(20));
    }
  });

  it('a stranger sees nothing of the conversation', async () => {
    const chat = converse(way, bot);
    const stranger = await world.connect();
    await stranger.call('profiles.list');
    world.models.script(bot, ['Secret']);
    const { runId } = await chat.send('Hello');
    await chat.terminal(runId);
    await stranger.call('health');
    expect(JSON.stringify(stranger.events)).not.toContain(runId);
  });
});

describe('history', () => {
  const chat = () => new Conversation(world.client, 'desktop:long', 'straight');
  const texts = (messages: { content: { text: string }[] }[]) =>
    messages.map(({ content }) => content[0]?.text);

  beforeAll(async () => {
    const answers = Array.from({ length: 12 }, (_, index) => `answer ${index}`);
    world.models.script('default', answers);
    for (let index = 0; index < 12; index++) {
      const { runId } = await chat().send(`question ${index}`);
      await chat().terminal(runId);
    }
  }, 30_000);

  it('without paging gives everything and no paging fields', async () => {
    const page = await chat().history();
    expect(page.messages).toHaveLength(24);
    expect(Object.keys(page).sort()).toEqual([
      'messages',
      'modelOverride',
      'sessionId',
      'sessionKey',
      'thinkingLevel',
    ]);
    expect(page).toMatchObject({ sessionId: 'desktop:long', thinkingLevel: null });
  });

  it('pages begin with a user message, go back without gap or repeat, and end', async () => {
    let page = await chat().history({ limit: 5 });
    expect(page).toMatchObject({ historyPageVersion: 1, hasOlder: true });
    let all = page.messages;
    while (page.before) {
      expect(page.messages[0]?.role).toBe('user');
      page = await chat().history({ limit: 5, before: page.before });
      all = [...page.messages, ...all];
    }
    expect(page).toMatchObject({ hasOlder: false, before: null });
    expect(texts(all)).toEqual(texts((await chat().history()).messages));
  });

  it.each([
    ['a limit of 0', { limit: 0 }],
    ['a limit of 201', { limit: 201 }],
    ['a limit that is text', { limit: '5' }],
    ['a cursor that is nonsense', { before: 'nonsense' }],
    [
      'a cursor of another session',
      { before: Buffer.from('[1,"desktop:other",3]').toString('base64url') },
    ],
  ])('%s is refused', async (_, params) => {
    await expect(chat().history(params)).rejects.toMatchObject({ code: 'INVALID_HISTORY_CURSOR' });
  });

  it('of an unknown session is empty', async () => {
    const { messages } = await converse('straight').history({ limit: 5 });
    expect(messages).toEqual([]);
  });
});

it('the model is told what was said before, and a key of 256 characters is a session', async () => {
  const sessionKey = `cli:${'x'.repeat(252)}`;
  const chat = new Conversation(world.client, sessionKey, 'straight');
  world.models.script('default', ['First answer', 'Second answer']);
  for (const question of ['First question', 'Second question'])
    await chat.terminal((await chat.send(question)).runId);
  const said = world.models.callsOf('default').at(-1)?.messages ?? [];
  const spoken = said.filter(({ role }) => role !== 'system').map(({ content }) => content);
  expect(spoken).toEqual(['First question', 'First answer', 'Second question']);
});

it('without a session key the client has a conversation of its own', async () => {
  const client = await world.connect({ clientId: 'terminal-1' });
  world.models.script('default', ['Hello terminal']);
  const { runId } = await client.call('chat.send', { message: 'Hello' });
  const final = await client.waitFor(
    ({ event, data }) => event === 'chat' && data?.runId === runId,
  );
  const { sessionKey } = await client.call('chat.history');
  expect(sessionKey).toMatch(/^desktop:[0-9a-f]{16}$/);
  expect(final).toMatchObject({ data: { sessionKey } });
});

it('the model of one turn may be another', async () => {
  const chat = converse('rpc', 'writer');
  world.models.script('special', ['From the special one']);
  const { runId } = await chat.send('Hello', { modelOverride: 'special' });
  const final = await chat.terminal(runId);
  expect(final).toMatchObject({ model: 'special' });
  expect(textOf(final)).toBe('From the special one');
});
