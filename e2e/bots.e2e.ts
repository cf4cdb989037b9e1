import { randomUUID } from 'node:crypto';
import { Gate, makeGroup, sendTo, settled, type CallError } from '@flowly/testing';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'], limits: { namedBots: 6 } });

const SESSION = 'ios:thread-1';

/** The refusal of `profiles.rpc`. */
const refusedRpc = (
  method: string,
  params?: unknown,
  more?: Record<string, unknown>,
): Promise<CallError> =>
  world.client.refusal('profiles.rpc', { name: 'writer', method, params, ...more });

const refusedSend = async (params: Record<string, unknown>) =>
  (await refusedRpc('chat.send', { sessionKey: SESSION, message: 'Hello', ...params })).code;

describe('profiles.rpc', () => {
  it.each([
    'config.get',
    'config.set',
    'connections.secret.get',
    'mcp.install',
    'skills.install',
    'cli.exec',
    'runtime.stop',
    'profiles.list',
    'constructor',
  ])('G270: %s is never allowed', async (method) => {
    expect(await refusedRpc(method)).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });

  it('G270: what is built is allowed', async () => {
    const { client } = world;
    expect(await client.rpc('writer', 'sessions.list')).toEqual({ sessions: expect.any(Array) });
    expect(await client.rpc('writer', 'chat.history', { sessionKey: SESSION })).toBeDefined();
    const { providers } = await client.rpc('writer', 'provider.list');
    expect(providers.find(({ key }) => key === 'vllm')).toMatchObject({
      keyable: true,
      hasKey: true,
      isActive: true,
      apiBase: world.models.apiBase,
    });
    expect(providers.filter(({ keyable }) => !keyable).map(({ key }) => key)).toEqual(['demo']);
  });

  it('G271: refuses files of this machine, folders, and nothing to say', async () => {
    expect(await refusedSend({ attachments: [{ filePath: '/etc/passwd' }] })).toBe(
      'REMOTE_FILE_PATH_DENIED',
    );
    const eleven = Array.from({ length: 11 }, () => ({}));
    const many = await refusedRpc('chat.send', { sessionKey: SESSION, attachments: eleven });
    expect(many).toMatchObject({
      code: 'INVALID_PARAMS',
      said: expect.stringContaining('up to 10'),
    });
    const odd = await refusedRpc('chat.send', {
      sessionKey: SESSION,
      attachments: ['not-an-object'],
    });
    expect(odd).toMatchObject({
      code: 'INVALID_PARAMS',
      said: expect.stringMatching(/attachment is invalid/i),
    });
    expect(await refusedSend({ cwd: '/tmp/project' })).toBe('REMOTE_HOST_ACCESS_DENIED');
    expect(await refusedSend({ browserAccess: true })).toBe('REMOTE_HOST_ACCESS_DENIED');
    const empty = await refusedRpc('chat.send', { sessionKey: SESSION });
    expect(empty).toMatchObject({
      code: 'INVALID_PARAMS',
      said: expect.stringMatching(/cannot be empty/i),
    });
  });

  it('G273: params are an object', async () => {
    expect((await refusedRpc('chat.history', [])).code).toBe('INVALID_PARAMS');
    expect((await refusedRpc('chat.history', 'text')).code).toBe('INVALID_PARAMS');
  });

  it.each([
    ['no session key', { sessionKey: undefined }],
    ['an empty session key', { sessionKey: '' }],
    ['a session key of 257 characters', { sessionKey: `ios:${'x'.repeat(253)}` }],
    ['a session key with outer white space', { sessionKey: ' ios:a' }],
    ['an empty idempotency key', { idempotencyKey: '' }],
    ['an idempotency key of 129 characters', { idempotencyKey: 'x'.repeat(129) }],
    ['a message of 32,001 characters', { message: 'x'.repeat(32_001) }],
  ])('G277: chat.send with %s is refused', async (_, params) => {
    expect(await refusedSend(params)).toBe('INVALID_PARAMS');
  });

  it('G278: content that is no base64 is refused', async () => {
    for (const content of ['not base64!', 'data:text/plain,not-base64'])
      expect(await refusedSend({ attachments: [{ fileName: 'a', content }] })).toBe(
        'INVALID_PARAMS',
      );
  });

  it.each(['cli:private', 'desktop:profile-inbox:writer:source', 'desktop:profile-room:x', 'x'])(
    'G279: the session %s is not open to clients',
    async (sessionKey) => {
      const denied = { code: 'REMOTE_SESSION_DENIED', retryable: false };
      expect(await refusedRpc('chat.history', { sessionKey })).toMatchObject(denied);
      expect(await refusedRpc('chat.send', { sessionKey, message: 'Hello' })).toMatchObject(denied);
      expect(await refusedRpc('chat.abort', { sessionKey, runId: 'x' })).toMatchObject(denied);
    },
  );

  it('the guard of identity', async () => {
    const { hostId, profiles } = await world.client.call('profiles.list');
    const botId = profiles.find(({ name }) => name === 'writer')?.botId;
    const right = { expectedHostId: hostId, expectedBotId: botId };
    await world.client.rpc('writer', 'sessions.list', {}, right);
    const changed = { code: 'PROFILE_IDENTITY_CHANGED', retryable: false };
    for (const wrong of [{ expectedHostId: randomUUID() }, { expectedBotId: randomUUID() }])
      expect(await refusedRpc('sessions.list', {}, { ...right, ...wrong })).toMatchObject(changed);
    const half = await refusedRpc('sessions.list', {}, { expectedBotId: botId });
    expect(half.code).toBe('INVALID_PARAMS');
    const straight = await world.client.refusal('chat.history', { expectedBotId: randomUUID() });
    expect(straight).toMatchObject(changed);
  });

  it('a bot that is not there', async () => {
    const refused = await world.client.refusal('profiles.rpc', {
      name: 'nobody',
      method: 'sessions.list',
    });
    expect(refused).toMatchObject({ code: 'PROFILE_NOT_FOUND', retryable: false });
  });
});

it('G215: sessions.list shows a client its own conversations, newest first, page by page', async () => {
  const { client } = world;
  const say = async (sessionKey: string) => {
    const { runId } = await client.rpc('writer', 'chat.send', { sessionKey, message: 'Hello' });
    await client.waitFor(
      ({ event, data }) =>
        event === 'profile.event' && data?.type === 'chat' && data.data.runId === runId,
    );
  };
  await say('ios:c');
  await say('web:b');
  const { id } = await makeGroup(client, ['default', 'writer']);
  await sendTo(client, id, '@writer hi');
  await settled(client, id);
  await say('ios:a');
  const keys = (page: { sessions: { key: string }[] }) => page.sessions.map(({ key }) => key);
  expect(keys(await client.rpc('writer', 'sessions.list', { limit: 3 }))).toEqual([
    'ios:a',
    'web:b',
    'ios:c',
  ]);
  const first = await client.rpc('writer', 'sessions.list', { limit: 2 });
  expect(keys(first)).toEqual(['ios:a', 'web:b']);
  const second = await client.rpc('writer', 'sessions.list', { limit: 2, before: first.next });
  expect(keys(second)).toEqual(['ios:c']);
  expect(second.next).toBeUndefined();
  expect(first.sessions[0]).toMatchObject({ channel: 'ios', chatId: 'a', running: false });
  for (const limit of [0, 201, 'x'])
    expect((await refusedRpc('sessions.list', { limit })).code).toBe('INVALID_PARAMS');
});

describe('the directory', () => {
  it('G217: bad values are refused', async () => {
    const refusal = async (method: string, params: unknown) => world.client.refusal(method, params);
    expect((await refusal('profiles.create', { name: 123 })).code).toBe('INVALID_PARAMS');
    const nothing = await refusal('profiles.configure', { name: 'writer' });
    expect(nothing).toMatchObject({
      code: 'INVALID_PARAMS',
      said: expect.stringMatching(/no bot settings to change/i),
    });
    const model = ['not', 'a', 'string'];
    const odd = await refusal('profiles.configure', { name: 'writer', model });
    expect(odd.code).toBe('INVALID_PARAMS');
    for (const name of ['Upper', '../x', 'flowly', 'root', 'constructor', ''])
      expect((await refusal('profiles.create', { name })).code).toBe('INVALID_PARAMS');
  });

  it('G219: shared credentials are not supported and make nothing', async () => {
    const refused = await world.client.refusal('profiles.create', {
      name: 'shared-auth',
      credentialPolicy: 'shared',
    });
    expect(refused.code).toBe('CREDENTIAL_POLICY_UNSUPPORTED');
    const { profiles } = await world.client.call('profiles.list');
    expect(profiles.map(({ name }) => name)).toEqual(['default', 'writer']);
  });

  it('a clone has the settings of its source, an empty bot has none', async () => {
    const { client } = world;
    await client.call('profiles.configure', { name: 'writer', soul: 'You write.' });
    const clone = await client.call('profiles.create', {
      name: 'twin',
      cloneFrom: 'writer',
      displayName: '  The Twin ',
    });
    expect(clone).toMatchObject({
      profile: { name: 'twin', displayName: 'The Twin', provider: 'vllm', model: 'writer' },
      readiness: { runnable: true, authStatus: 'ready', missingCapabilities: [] },
    });
    const { settings } = await client.call('profiles.settings', { name: 'twin' });
    expect(settings.soul).toBe('You write.');
    const empty = await client.call('profiles.create', { name: 'blank', cloneFrom: null });
    expect(empty.readiness).toMatchObject({
      runnable: false,
      authStatus: 'missing',
      missingCapabilities: ['provider'],
    });
    const taken = await client.refusal('profiles.create', { name: 'twin' });
    expect(taken.code).toBe('PROFILE_ALREADY_EXISTS');
    const unknown = await client.refusal('profiles.create', { name: 'x', cloneFrom: 'nobody' });
    expect(unknown.code).toBe('PROFILE_NOT_FOUND');
  });

  it('its subscribers are told of a new and of a changed bot', async () => {
    const reader = await world.connect();
    await reader.call('profiles.list');
    const about = (action: string, name: string) =>
      reader.waitFor(
        ({ event, data }) =>
          event === 'profile.event' &&
          data?.type === 'directory' &&
          data.data.action === action &&
          data.data.action !== 'deleted' &&
          data.data.profile.name === name,
      );
    await world.client.call('profiles.create', { name: 'news', cloneFrom: null });
    await about('created', 'news');
    await world.client.call('profiles.configure', { name: 'news', displayName: 'News' });
    const updated = await about('updated', 'news');
    expect(updated).toMatchObject({
      data: { profile: 'news', data: { profile: { displayName: 'News' } } },
    });
  });

  it('another apiBase without a key takes the old key away', async () => {
    const { client } = world;
    const apiKey = 'sk-old-key-of-openai';
    const configure = (credential: Record<string, string>) =>
      client.call('profiles.configure', {
        name: 'blank',
        credential: { provider: 'openai', ...credential },
      });
    const hasKey = async () => {
      const { providers } = await client.rpc('blank', 'provider.list');
      return providers.find(({ key }) => key === 'openai')?.hasKey;
    };
    await configure({ apiKey });
    expect(await hasKey()).toBe(true);
    await configure({ apiBase: 'https://models.example.com/v1' });
    expect(await hasKey()).toBe(false);
  });

  it('provider, model and soul wait for the end of a turn; a name does not', async () => {
    const gate = new Gate();
    const { client, models } = world;
    const before = models.callsOf('writer').length;
    models.script('writer', [{ gate: gate.opened, text: 'done' }]);
    const { runId } = await client.rpc('writer', 'chat.send', {
      sessionKey: 'ios:busy',
      message: 'Hello',
    });
    await models.waitForCalls(before + 1, { model: 'writer' });
    const busy = { code: 'PROFILE_BUSY', retryable: true };
    for (const change of [{ provider: 'vllm' }, { model: 'x' }, { soul: 'x' }])
      expect(
        await client.refusal('profiles.configure', { name: 'writer', ...change }),
      ).toMatchObject(busy);
    await client.call('profiles.configure', { name: 'writer', description: 'Writes.' });
    const { statuses } = await client.call('profiles.statuses');
    expect(statuses.find(({ profile }) => profile === 'writer')).toMatchObject({
      state: 'connected',
      activeRuns: 1,
    });
    gate.open();
    await client.waitFor(
      ({ event, data }) =>
        event === 'profile.event' && data?.type === 'chat' && data.data.runId === runId,
    );
  });

  it('the limit of named bots', async () => {
    const { client } = world;
    const { profiles } = await client.call('profiles.list');
    for (let count = profiles.length - 1; count < 6; count++)
      await client.call('profiles.create', { name: `more-${count}`, cloneFrom: null });
    const refused = await client.refusal('profiles.create', { name: 'last' });
    expect(refused).toMatchObject({ code: 'PROFILE_LIMIT', retryable: false });
    expect(refused.said).toMatch(/delete/i);
  });
});
