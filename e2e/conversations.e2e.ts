import { randomUUID } from 'node:crypto';
import type { BotMethodName } from '@flowly/contract';
import { Gate, until } from '@flowly/testing';
import { Conversation, textOf, type Way } from './support/conversation';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });

const BUSY = { code: 'SESSION_BUSY', retryable: true };
const BAD = { code: 'INVALID_PARAMS', retryable: false };

/** The list of a bot's conversations and what changes them, one way. */
function conversing(way: Way, bot: string) {
  const { client } = world;
  const call = (method: BotMethodName, params: Record<string, unknown>) =>
    way === 'straight' ? client.call(method, params) : client.rpc(bot, method, params);
  const chat = new Conversation(client, `desktop:${randomUUID()}`, way, bot);
  const list = (params: Record<string, unknown> = {}) =>
    way === 'straight'
      ? client.call('sessions.list', params)
      : client.rpc(bot, 'sessions.list', params);
  const row = async () => (await list()).sessions.find(({ key }) => key === chat.sessionKey);
  const say = async (message: string, extra: Record<string, unknown> = {}) => {
    const { runId } = await chat.send(message, extra);
    return chat.terminal(runId);
  };
  return { call, chat, list, row, say };
}

describe.each<[Way, string]>([
  ['straight', 'default'],
  ['rpc', 'writer'],
])('%s to %s', (way, bot) => {
  it('a conversation is listed with what it is about, and named after its first exchange', async () => {
    const { chat, row, say } = conversing(way, bot);
    const { sessionKey } = chat;
    world.models.script(bot, ['Take the train.']);
    world.models.title(() => '**A trip to Rome**');
    const final = await say('How do I get to Rome?');
    expect(final).toMatchObject({
      message: { usage: { prompt_tokens: 10, completion_tokens: 3 } },
    });
    const named = await until(
      async () => {
        const found = await row();
        return found?.title ? found : undefined;
      },
      10_000,
      'no title',
    );
    expect(named).toEqual({
      key: sessionKey,
      sizeBytes: expect.any(Number),
      modifiedAt: named.updatedAt,
      channel: 'desktop',
      chatId: sessionKey.slice('desktop:'.length),
      title: 'A trip to Rome',
      displayName: 'A trip to Rome',
      updatedAt: expect.any(Number),
      lastAssistantRunId: final.runId,
      lastAssistantAt: named.updatedAt,
      running: false,
      modelOverride: null,
    });
    const bytes = named.sizeBytes;
    await say('And back?');
    expect(await row()).toMatchObject({ title: 'A trip to Rome' });
    expect((await row())?.sizeBytes).toBeGreaterThan(bytes);
  });

  it('a session is removed by either name of its key, and its receipts stay', async () => {
    const { call, chat, row, say } = conversing(way, bot);
    const { sessionKey } = chat;
    world.models.script(bot, ['One', 'Two']);
    const { runId } = await say('Hello', { idempotencyKey: randomUUID() });
    expect(await call('sessions.delete', { key: sessionKey })).toEqual({
      deleted: true,
      sessionKey,
    });
    expect(await row()).toBeUndefined();
    expect(await chat.transcript()).toEqual([]);
    expect(await chat.send('Hello', { idempotencyKey: runId })).toEqual({
      runId,
      status: 'completed',
      replayed: true,
    });
    const both = { sessionKey, key: sessionKey };
    expect(await call('sessions.delete', both)).toEqual({ deleted: false, sessionKey });
    await say('Anew');
    expect(await chat.transcript()).toEqual(['user: Anew', 'assistant: Two']);
    expect(await call('sessions.delete', { sessionKey })).toEqual({ deleted: true, sessionKey });
    for (const params of [{}, { key: null }, { sessionKey, key: 'ios:other' }])
      await expect(call('sessions.delete', params)).rejects.toMatchObject(BAD);
  });

  it('while a turn runs or waits neither the session nor its model changes', async () => {
    const { call, chat, row } = conversing(way, bot);
    const { sessionKey } = chat;
    const gate = new Gate();
    world.models.script(bot, [{ gate: gate.opened, text: 'late' }, 'next']);
    const first = await chat.send('One');
    const second = await chat.send('Two');
    expect(await row()).toMatchObject({ running: true });
    await expect(call('sessions.delete', { sessionKey })).rejects.toMatchObject(BUSY);
    const set = call('sessions.model.set', { sessionKey, model: 'm2' });
    await expect(set).rejects.toMatchObject(BUSY);
    await chat.abort(second.runId);
    gate.open();
    await chat.terminal(first.runId);
    expect(await row()).toMatchObject({ running: false, modelOverride: null });
    expect(await call('sessions.delete', { sessionKey })).toMatchObject({ deleted: true });
  });

  it('a session asks its own model while it has one', async () => {
    const { call, chat, row, say } = conversing(way, bot);
    const { sessionKey } = chat;
    const own = `own-${randomUUID()}`;
    world.models.script(own, ['from its own']);
    world.models.script(bot, ['from the bot']);
    const set = (model: string | null) => call('sessions.model.set', { sessionKey, model });
    const none = { sessionKey, model: null, inherited: true };
    expect(await call('sessions.model.get', { sessionKey })).toEqual(none);
    expect(await set(own)).toEqual({ sessionKey, model: own, inherited: false });
    expect(await row()).toMatchObject({ modelOverride: own });
    expect((await chat.history()).modelOverride).toBe(own);
    const first = await say('Hello');
    expect([first.model, textOf(first)]).toEqual([own, 'from its own']);
    expect(await set('')).toEqual(none);
    expect((await say('And now?')).model).toBe(bot);
    await expect(
      call('sessions.model.set', { sessionKey, model: 'x'.repeat(257) }),
    ).rejects.toMatchObject(BAD);
    await expect(call('sessions.model.set', { sessionKey })).rejects.toMatchObject(BAD);
  });

  it('calls of one session take effect in the order sent', async () => {
    const { call, chat } = conversing(way, bot);
    const { sessionKey } = chat;
    const model = (name: string | null) => call('sessions.model.set', { sessionKey, model: name });
    const answers = await Promise.all([
      model('a'),
      call('sessions.model.get', { sessionKey }),
      call('sessions.delete', { sessionKey }),
      call('sessions.model.get', { sessionKey }),
      model('b'),
      chat.history(),
    ]);
    expect(answers).toMatchObject([
      { model: 'a' },
      { model: 'a' },
      { deleted: true },
      { model: null },
      { model: 'b' },
      { modelOverride: 'b' },
    ]);
  });

  it('G279: sessions that are not a client’s are denied', async () => {
    const { call } = conversing(way, bot);
    const inbox = 'desktop:profile-inbox:writer:source';
    const denied: [BotMethodName, Record<string, unknown>][] = [
      ['chat.inflight', { sessionKey: inbox }],
      ['sessions.delete', { key: inbox }],
      ['sessions.model.get', { sessionKey: inbox }],
      ['sessions.model.set', { sessionKey: inbox, model: 'm' }],
      ...(way === 'straight'
        ? []
        : ([
            ['chat.history', { sessionKey: 'cli:private' }],
            ['sessions.model.get', { sessionKey: 'cron:job' }],
          ] satisfies [BotMethodName, Record<string, unknown>][])),
    ];
    for (const [method, params] of denied) {
      const refusal = { code: 'REMOTE_SESSION_DENIED', retryable: false };
      await expect(call(method, params)).rejects.toMatchObject(refusal);
    }
  });
});

it('G215: a page is filled past what is hidden; straight shows the other keys', async () => {
  const bot = 'default';
  world.models.script(bot, ['Yes']);
  const before = await world.client.rpc(bot, 'sessions.list', {});
  for (const sessionKey of ['ios:c', 'web:b', 'cli:hidden', 'ios:a']) {
    const chat = new Conversation(world.client, sessionKey, 'straight');
    const { runId } = await chat.send('Hello');
    await chat.terminal(runId);
  }
  const keysOf = ({ sessions }: { sessions: { key: string }[] }) => sessions.map(({ key }) => key);
  const list = (params: Record<string, unknown>) => world.client.rpc(bot, 'sessions.list', params);
  expect(keysOf(await list({ limit: 3 }))).toEqual(['ios:a', 'web:b', 'ios:c']);
  const page = await list({ limit: 2 });
  expect(keysOf(page)).toEqual(['ios:a', 'web:b']);
  expect(keysOf(await list({ limit: 1, before: page.next }))).toEqual(['ios:c']);
  expect(keysOf(await list({}))).toEqual(['ios:a', 'web:b', 'ios:c', ...keysOf(before)]);
  const straight = await world.client.call('sessions.list', { limit: 4 });
  expect(keysOf(straight)).toEqual(['ios:a', 'cli:hidden', 'web:b', 'ios:c']);
  for (const params of [
    { limit: 0 },
    { limit: 201 },
    { limit: 1.5 },
    { limit: '5' },
    { before: '' },
    { before: 'x' },
  ])
    await expect(list(params)).rejects.toMatchObject(BAD);
});

it('straight, a client that names no conversation has one of its own', async () => {
  const client = await world.connect({ clientId: 'tester' });
  const { sessionKey } = await client.call('sessions.model.get', {});
  expect(sessionKey).toBe('desktop:9bba5c53a0545e0c');
  expect(await client.call('chat.inflight', {})).toMatchObject({ inflight: null });
  expect(await client.call('chat.history', {})).toMatchObject({ sessionKey });
});
