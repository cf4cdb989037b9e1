import { createHash, randomUUID } from 'node:crypto';
import { botMethods, isBotMethod } from '@flowly/contract';
import { CallError, Gate } from '@flowly/testing';
import { Conversation } from './support/conversation';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'], limits: { paramsBytes: 300_000 } });

const methods = Object.keys(botMethods).filter(isBotMethod);
/** Methods with exact key sets, which take no session key at all. */
const isExact = (method: string) => /^(exec|codex)\.policy\.|^tools\.access\./.test(method);

const rpc = (method: string, params?: unknown, more: object = {}) =>
  world.client.call('profiles.rpc', { name: 'writer', method, params, ...more });
const straight = (method: string, params?: unknown) => world.client.call(method, params);

/** `ok`, or the code of the refusal. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    if (error instanceof CallError) return error.code;
    throw error;
  }
}

const malformed: [string, unknown][] = [
  ['empty', ''],
  ['of 257 characters', `ios:${'x'.repeat(253)}`],
  ['of 257 characters outside of the BMP', `ios:${'🦉'.repeat(253)}`],
  ['with a NUL', 'ios:a\0b'],
  ['with a line break', 'ios:a\nb'],
  ['with a tab', 'ios:\ta'],
  ['with DEL', 'ios:a\u007f'],
  ['with a C1 control', 'ios:a\u0085b'],
  ['with white space before it', ' ios:a'],
  ['with white space behind it', 'ios:a\u00a0'],
  ['that is a number', 7],
  ['that is a list', ['ios:a']],
  ['that is an object', { toString: 'ios:a' }],
];
const closed = [
  'desktop:profile-inbox:writer:source',
  'desktop:profile-room:00000000-0000-4000-8000-000000000000',
  'desktop:profile-task:x',
];
const foreign = ['cli:private', 'cron:job', 'x', 'DESKTOP:a', '../ios:a', 'ıos:a'];

describe.each(methods)('%s', (method) => {
  const refused = isExact(method) ? 'INVALID_PARAMS' : 'REMOTE_SESSION_DENIED';

  it('G277: refuses every malformed session key', async () => {
    for (const [kind, sessionKey] of malformed) {
      expect([kind, await codeOf(rpc(method, { sessionKey }))]).toEqual([kind, 'INVALID_PARAMS']);
      expect([kind, await codeOf(straight(method, { sessionKey }))]).toEqual([
        kind,
        'INVALID_PARAMS',
      ]);
    }
  });

  it('G279: opens no internal session, and through profiles.rpc no foreign one', async () => {
    for (const sessionKey of [...closed, ...foreign])
      expect([sessionKey, await codeOf(rpc(method, { sessionKey }))]).toEqual([
        sessionKey,
        refused,
      ]);
    for (const sessionKey of closed)
      expect([sessionKey, await codeOf(straight(method, { sessionKey }))]).toEqual([
        sessionKey,
        refused,
      ]);
  });

  it('G273: takes params that are an object only', async () => {
    for (const params of [[], ['x'], 'text', 7, false])
      expect(await codeOf(rpc(method, params))).toBe('INVALID_PARAMS');
    for (const params of [[], 'text'])
      expect(await codeOf(straight(method, params))).toBe('INVALID_PARAMS');
  });

  it('does not answer straight for another bot than the one expected', async () => {
    const own = { ...leastParams(method), sessionKey: 'desktop:guard' };
    const given = isExact(method) ? leastParams(method) : own;
    for (const expectedBotId of [randomUUID(), '', 7])
      expect(await codeOf(straight(method, { ...given, expectedBotId }))).toBe(
        'PROFILE_IDENTITY_CHANGED',
      );
  });
});

/** Params with which a method gets as far as the identity guard. */
function leastParams(method: string): Record<string, unknown> {
  const known: Record<string, Record<string, unknown>> = {
    'chat.send': { message: 'Hello' },
    'chat.abort': { runId: 'r' },
    'media.read': { mediaId: 'a.png' },
    'sessions.model.set': { model: null },
    'exec.approval.resolve': { id: 'x', decision: 'deny' },
    'exec.policy.set': { security: 'deny', ask: 'off' },
    'agent.clarify.resolve': { id: 'x', answer: '' },
  };
  return known[method] ?? {};
}

it.each([
  ['of two dots and slashes', 'ios:../../../etc/passwd'],
  ['of 256 characters outside of the BMP', `ios:${'🦉'.repeat(252)}`],
  ['with right-to-left marks and joiners', 'web:\u202eabc\u2066👩‍👩‍👧\u2069'],
  ['with combining marks', 'ios:e\u0301'],
  ['of SQL and wildcards', "ios:%_'; DROP TABLE sessions; --"],
  ['that looks like a property', 'ios:__proto__'],
])('a session key %s is text and no more', async (_, sessionKey) => {
  const chat = new Conversation(world.client, sessionKey, 'rpc', 'writer');
  const { runId } = await chat.send('Hello');
  await chat.terminal(runId);
  const { sessions } = await world.client.rpc('writer', 'sessions.list');
  expect(sessions.filter(({ key }) => key === sessionKey)).toHaveLength(1);
  const history = await world.client.rpc('writer', 'chat.history', { sessionKey });
  expect(history).toMatchObject({
    sessionKey,
    messages: [{ role: 'user' }, { role: 'assistant' }],
  });
});

describe('chat.send', () => {
  const send = (params: object) =>
    rpc('chat.send', { sessionKey: 'ios:s', message: 'x', ...params });

  it.each<[string, object]>([
    ['an empty idempotency key', { idempotencyKey: '' }],
    ['one of 129 characters', { idempotencyKey: 'x'.repeat(129) }],
    ['one with a control character', { idempotencyKey: 'a\0b' }],
    ['one with outer white space', { idempotencyKey: 'a ' }],
    ['one that is a number', { idempotencyKey: 7 }],
    ['a message of 32,001 characters', { message: 'x'.repeat(32_001) }],
    ['a blank message', { message: ' \n ' }],
    ['a message that is a list', { message: ['x'] }],
    ['a message with a NUL', { message: 'a\0b' }],
    ['a model of 257 characters', { modelOverride: 'x'.repeat(257) }],
    ['mentions that are no list', { profileMentions: 'writer' }],
  ])('G277: with %s is refused, and nothing runs', async (_, params) => {
    const before = world.models.calls.length;
    expect(await codeOf(send(params))).toBe('INVALID_PARAMS');
    expect(await codeOf(straight('chat.send', { message: 'x', ...params }))).toBe('INVALID_PARAMS');
    expect(world.models.calls).toHaveLength(before);
  });

  it('takes the longest there may be', async () => {
    const chat = new Conversation(world.client, 'ios:long', 'rpc', 'writer');
    const idempotencyKey = '🦉'.repeat(128);
    const { runId } = await chat.send('🦉'.repeat(32_000), { idempotencyKey });
    expect(runId).toBe(idempotencyKey);
    await chat.terminal(runId);
  });
});

describe('the order of checks', () => {
  const large = 'x'.repeat(400_000);

  it('params that are too large: after name and method, before all else', async () => {
    const params = { sessionKey: 'cli:x', message: large };
    expect(await codeOf(rpc('chat.send', params))).toBe('REQUEST_TOO_LARGE');
    expect(await codeOf(rpc('config.set', params))).toBe('METHOD_NOT_ALLOWED');
    expect(await codeOf(rpc('chat.send', params, { name: '../x' }))).toBe('INVALID_PARAMS');
    expect(await codeOf(rpc('chat.send', large))).toBe('INVALID_PARAMS');
    expect(await codeOf(straight('chat.send', params))).toBe('REQUEST_TOO_LARGE');
    expect(await codeOf(straight('profiles.list', { large }))).toBe('REQUEST_TOO_LARGE');
  });

  it('what the gateway judges comes before the bot is looked for', async () => {
    const nobody = { name: 'nobody' };
    expect(await codeOf(rpc('sessions.list', {}, nobody))).toBe('PROFILE_NOT_FOUND');
    expect(await codeOf(rpc('sessions.list', { limit: 0 }, nobody))).toBe('INVALID_PARAMS');
    expect(await codeOf(rpc('sessions.list', {}, { ...nobody, expectedBotId: 'x' }))).toBe(
      'INVALID_PARAMS',
    );
    const host = { expectedHostId: 'other', expectedBotId: 'other' };
    expect(await codeOf(rpc('sessions.list', {}, { ...nobody, ...host }))).toBe(
      'PROFILE_IDENTITY_CHANGED',
    );
  });
});

it('G273: a number that JSON cannot hold is refused', async () => {
  const { client } = world;
  const call =
    '"profiles.rpc","params":{"name":"writer","method":"chat.history","params":{"sessionKey":"ios:a","x":[1e999]}}';
  client.raw(`{"type":"rpc","id":"infinite","method":${call}}`);
  const frame = await client.waitForFrame((given) => JSON.stringify(given).includes('"infinite"'));
  expect(frame).toMatchObject({ error: { code: 'INVALID_PARAMS' } });
});

it('G270: what is on the list is allowed, all else is not, whatever it is called', async () => {
  const { profileRpcMethods } = await world.client.call('profiles.capabilities');
  expect(profileRpcMethods).toEqual(methods.map((name) => botMethods[name].wire).sort());
  const never = ['config.get', 'config.set', 'connections.secret.get', 'mcp.install'];
  const others = [
    'skills.install',
    'cli.exec',
    'runtime.stop',
    'health',
    'CHAT.SEND',
    'chat.send ',
  ];
  for (const method of [...never, ...others, 'hasOwnProperty', ''])
    expect([method, await codeOf(rpc(method, {}))]).toEqual([method, 'METHOD_NOT_ALLOWED']);
  for (const method of [...never, 'runtime.stop', 'toString', ''])
    expect([method, await codeOf(straight(method, {}))]).toEqual([method, 'INVALID_REQUEST']);
});

it('straight on the socket a client that names no session has one of its own', async () => {
  const client = await world.connect({ clientId: 'terminal-1' });
  const { runId } = await client.call('chat.send', { message: 'Hello' });
  const own = `desktop:${createHash('sha256').update('terminal-1').digest('hex').slice(0, 16)}`;
  await client.waitFor(
    ({ event, data }) => event === 'chat' && data?.state === 'final' && data.runId === runId,
  );
  expect(await client.call('chat.history', {})).toMatchObject({
    sessionKey: own,
    messages: [{ role: 'user' }, { role: 'assistant' }],
  });
  const cli = await client.call('chat.history', { sessionKey: 'cli:private' });
  expect(cli).toMatchObject({ sessionKey: 'cli:private', messages: [] });
});

it('chat.command, and what old clients ask for, are there straight on the socket alone', async () => {
  const client = await world.connect({ clientId: 'terminal-2' });
  const { runId } = await client.call('chat.send', { message: 'Hello' });
  await client.waitFor(
    ({ event, data }) => event === 'chat' && data?.state === 'final' && data.runId === runId,
  );
  const receipt = (params: object) => client.call('chat.command', { runId, ...params });
  expect(await receipt({})).toEqual({ runId, status: 'completed', replayed: true });
  const unknown = { status: 'not_found', replayed: false };
  expect(await receipt({ sessionKey: 'cli:other' })).toEqual({ runId, ...unknown });
  expect(await receipt({ runId: 'r' })).toEqual({ runId: 'r', ...unknown });
  expect(await codeOf(receipt({ sessionKey: 'desktop:profile-room:x' }))).toBe(
    'REMOTE_SESSION_DENIED',
  );
  expect(await codeOf(receipt({ runId: '' }))).toBe('INVALID_PARAMS');
  expect(await client.call('artifacts.list')).toEqual({ artifacts: [] });
  expect(await client.call('memory.review')).toEqual({ items: [] });
  const { featureMethods } = await client.call('system.capabilities');
  for (const method of ['chat.command', 'artifacts.list', 'memory.review']) {
    expect(featureMethods).toContain(method);
    expect(await codeOf(rpc(method, { sessionKey: 'ios:a', runId }))).toBe('METHOD_NOT_ALLOWED');
    const another = { runId, expectedBotId: randomUUID() };
    expect(await codeOf(straight(method, another))).toBe('PROFILE_IDENTITY_CHANGED');
  }
});

it('chat.undo, chat.retry and chat.clear take words back, start nothing, and wait for no turn', async () => {
  const { client, models } = world;
  const sessionKey = 'cli:words';
  const chat = new Conversation(client, sessionKey, 'straight', 'default');
  for (const message of ['one', 'two', 'three']) {
    const { runId } = await chat.send(message);
    await chat.terminal(runId);
  }
  const asked = models.calls.length;
  const left = async () => (await client.call('chat.history', { sessionKey })).messages.length;
  expect(await client.call('chat.retry', { sessionKey })).toEqual({
    ok: true,
    text: 'three',
    removed: 2,
  });
  expect(await client.call('chat.undo', { sessionKey })).toEqual({ ok: true, removed: 2 });
  expect(await left()).toBe(2);
  expect(models.calls).toHaveLength(asked);

  const gate = new Gate();
  models.script('default', [{ gate: gate.opened, text: 'late' }]);
  const { runId } = await chat.send('wait');
  for (const method of ['chat.retry', 'chat.undo', 'chat.clear'])
    expect(await codeOf(straight(method, { sessionKey }))).toBe('SESSION_BUSY');
  gate.open();
  await chat.terminal(runId);

  expect(await client.call('chat.clear', { sessionKey })).toEqual({ ok: true, removed: 4 });
  expect(await left()).toBe(0);
  expect(await client.call('chat.undo', { sessionKey })).toEqual({ ok: false, removed: 0 });
  const nothing = { ok: false, text: '', removed: 0 };
  expect(await client.call('chat.retry', { sessionKey })).toEqual(nothing);
  for (const method of ['chat.retry', 'chat.undo', 'chat.clear']) {
    expect(await codeOf(rpc(method, { sessionKey: 'ios:a' }))).toBe('METHOD_NOT_ALLOWED');
    expect(await codeOf(straight(method, { sessionKey: 'desktop:profile-room:x' }))).toBe(
      'REMOTE_SESSION_DENIED',
    );
  }
});

it('a call past its time goes on: PROFILE_RPC_TIMEOUT, and its effect is there', async () => {
  const { client, models } = world;
  const gate = new Gate();
  models.answerLists(() => ({ gate: gate.opened, body: { data: [{ id: 'late' }] } }));
  // Turns have asked for the list by themselves.
  const params = { forceRefresh: true };
  const before = models.listCalls.length;
  const call = { name: 'writer', method: 'model.list', params, timeoutMs: 1 };
  const refused = await client.refusal('profiles.rpc', call);
  expect(refused).toMatchObject({ code: 'PROFILE_RPC_TIMEOUT', retryable: true });
  gate.open();
  const { models: listed } = await client.rpc('writer', 'model.list');
  expect(listed).toMatchObject([{ id: 'late' }]);
  expect(models.listCalls).toHaveLength(before + 1);
});

it('nothing of all this was a fault of the product', () => {
  expect(world.system.stdout).not.toContain('"level":50');
  expect(JSON.stringify(world.client.frames)).not.toContain('"INTERNAL"');
});
