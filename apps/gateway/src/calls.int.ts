import { hostMethods } from '@flowly/contract';
import { TestEdge, type TestGateway } from './test/gateway.harness';
import type { TestClient } from './test/client.harness';
import { GROUP_ID } from './test/group.harness';
import type { Served } from './test/services.harness';

let edge: TestEdge;
let gateway: TestGateway;
let client: TestClient;
beforeAll(async () => {
  edge = await TestEdge.start();
  await edge.services.work('bot-commands', 'group-commands');
  gateway = await edge.gateway();
});
beforeEach(async () => {
  edge.services.served.length = 0;
  edge.services.answer(async ({ command }) => ({ result: { name: command.name } }));
  client = await gateway.client('?clientId=tester');
});
afterEach(() => client.end());
afterAll(() => edge.stop());

const last = (): Served => {
  const served = edge.services.served.at(-1);
  if (served === undefined) throw new Error('Nothing was served.');
  return served;
};
const rpc = (method: string, params: object = {}, more: object = {}) => ({
  name: 'writer',
  method,
  params,
  ...more,
});

describe('calls for groups', () => {
  it('G004 pass to the orchestrator and its answer back', async () => {
    edge.services.answer(async () => ({ result: { hostId: 'host-1', rooms: [] } }));
    expect(await client.call('profiles.rooms.list', {})).toEqual({
      type: 'rpc',
      id: 'c1',
      result: { hostId: 'host-1', rooms: [] },
    });
  });

  it('X012 go on with their params as they came', async () => {
    const params = { roomId: GROUP_ID.toUpperCase(), includeMessages: 'no', more: [null] };
    edge.services.answer(async () => ({
      error: { code: 'INVALID_PARAMS', message: 'includeMessages', retryable: false },
    }));
    expect(await client.code('profiles.rooms.get', params)).toBe('INVALID_PARAMS');
    expect(last().params).toEqual(params);
  });

  it('X081 need an object and a text as eventMode', async () => {
    expect(await client.code('profiles.rooms.list', [1])).toBe('INVALID_PARAMS');
    expect(await client.code('profiles.rooms.get', 'x')).toBe('INVALID_PARAMS');
    expect(await client.code('profiles.rooms.list', { eventMode: 1 })).toBe('INVALID_PARAMS');
    expect(await client.code('profiles.rooms.list', { eventMode: 'other' })).toBe('no error');
    expect(edge.services.served).toHaveLength(1);
  });

  it('G005 of an unknown name are not allowed', async () => {
    expect(await client.code('profiles.rooms.untrusted', {})).toBe('METHOD_NOT_ALLOWED');
  });
});

describe('calls for bots', () => {
  it('carry what the runner must know', async () => {
    await client.call(
      'profiles.rpc',
      rpc(
        'chat.send',
        { sessionKey: 'ios:a', message: 'hi', unknown: 1 },
        { expectedHostId: 'h', expectedBotId: 'b' },
      ),
    );
    const { command, params } = last();
    expect(command).toMatchObject({
      name: 'chat.send',
      bot: { name: 'writer', expectedHostId: 'h', expectedBotId: 'b' },
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(command.straight).toBeUndefined();
    expect(command.deadline).toBeGreaterThan(Date.now());
    expect(params).toEqual({ sessionKey: 'ios:a', message: 'hi', attachments: [] });
  });

  it.each<[string, unknown, string]>([
    ['a bad name', { name: '../x', method: 'nothing' }, 'INVALID_PARAMS'],
    ['G270 a method that is not in the list', rpc('config.get', []), 'METHOD_NOT_ALLOWED'],
    ['no method', { name: 'writer' }, 'METHOD_NOT_ALLOWED'],
    [
      'G273 params that are a list',
      { name: 'writer', method: 'chat.history', params: [] },
      'INVALID_PARAMS',
    ],
    ['G277 no session key', rpc('chat.send', { message: 'x' }), 'INVALID_PARAMS'],
    [
      'G279 a session that is not open',
      rpc('chat.history', { sessionKey: 'cli:private' }),
      'REMOTE_SESSION_DENIED',
    ],
    [
      'an internal session',
      rpc('provider.list', { sessionKey: 'desktop:profile-room:x' }),
      'REMOTE_SESSION_DENIED',
    ],
    [
      'G271 a file of the host',
      rpc('chat.send', { sessionKey: 'ios:a', attachments: [{ filePath: '/x' }] }),
      'REMOTE_FILE_PATH_DENIED',
    ],
    ['half an identity', rpc('provider.list', {}, { expectedBotId: 'b' }), 'INVALID_PARAMS'],
    [
      'an empty identity',
      rpc('provider.list', {}, { expectedBotId: 'b', expectedHostId: '' }),
      'INVALID_PARAMS',
    ],
  ])('are refused for %s', async (_, params, code) => {
    expect(await client.code('profiles.rpc', params)).toBe(code);
    expect(edge.services.served).toHaveLength(0);
  });

  it('G274, G276: bring files with what is known of them and no more, addresses as they are', async () => {
    const draft = { fileName: 'draft.txt', mimeType: 'text/plain', content: 'SGVsbG8=' };
    const cdnUrl = 'https://cdn.example.com/media/draft.png?signature=opaque';
    const away = { fileName: 'draft.png', mimeType: 'image/png', cdnUrl };
    const attachments = [{ ...draft, thumbnail: 'dA==', s3Key: 'k' }, away];
    await client.call('profiles.rpc', rpc('chat.send', { sessionKey: 'ios:a', attachments }));
    expect(last().params).toMatchObject({ attachments: [draft, away] });
  });

  it('G278: hold a file to the limit that is set', async () => {
    const small = await edge.gateway({ limits: { attachmentBytes: 4 } });
    const one = await small.client();
    const send = (content: string) => {
      const attachments = [{ fileName: 'a.txt', content }];
      return one.code('profiles.rpc', rpc('chat.send', { sessionKey: 'ios:a', attachments }));
    };
    expect(await send('SGVsbA==')).toBe('no error');
    expect(await send('SGVsbG8=')).toBe('REQUEST_TOO_LARGE');
    expect(await send('not base64!')).toBe('INVALID_PARAMS');
    await one.end();
  });

  it('G280: ask for a part of a file by what is known alone', async () => {
    const part = { mediaId: 'generated-image.png', offset: 1_024, length: 1_048_576 };
    await client.call('profiles.rpc', rpc('media.read', { ...part, ignored: true }));
    expect(last().params).toEqual(part);
  });

  it('straight on the socket mean the default bot, in a session of the client', async () => {
    await client.call('chat.send', { message: 'hi', expectedBotId: 'mine' });
    expect(last()).toMatchObject({
      command: { straight: true, bot: { name: 'default', expectedBotId: 'mine' } },
      params: { sessionKey: 'desktop:9bba5c53a0545e0c', message: 'hi' },
    });
    await client.call('chat.history', { sessionKey: 'cli:x' });
    expect(last()).toMatchObject({ params: { sessionKey: 'cli:x' } });
    expect(await client.code('chat.history', { sessionKey: 'desktop:profile-task:x' })).toBe(
      'REMOTE_SESSION_DENIED',
    );
  });

  it('take a credential sealed for the runners, and only when one has published its key', async () => {
    const params = { name: 'writer', credential: { provider: 'openai', apiKey: 'sk-very-secret' } };
    expect(await client.call('profiles.configure', params)).toMatchObject({
      error: { code: 'UNAVAILABLE', retryable: true },
    });
    const { redis, keys } = edge.services.bus;
    await redis.set(keys.sealKey, 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo');
    await client.call('profiles.configure', params);
    expect(last().params).toEqual({
      name: 'writer',
      credential: { key: expect.any(String), nonce: expect.any(String), box: expect.any(String) },
    });
    expect(JSON.stringify(last())).not.toContain('sk-very-secret');
  });

  it('refuse a credential over a line that others can read', async () => {
    const proxied = await edge.gateway({ environment: { FLOWLY_TRUSTED_PROXIES: '127.0.0.1' } });
    const params = { name: 'writer', credential: { provider: 'openai', apiKey: 'k' } };
    const forwarded = { 'x-forwarded-for': '203.0.113.9' };
    const plain = await proxied.client('', { ...forwarded, 'x-forwarded-proto': 'http' });
    expect(await plain.code('profiles.configure', params)).toBe('SECURE_TRANSPORT_REQUIRED');
    const encrypted = await proxied.client('', { ...forwarded, 'x-forwarded-proto': 'https' });
    expect(await encrypted.code('profiles.configure', params)).toBe('no error');
    await Promise.all([plain.end(), encrypted.end()]);
  });

  it('G217 name a bot by the rule, in every method of the directory', async () => {
    const methods = Object.values(hostMethods).filter(
      ({ params }) => !params.safeParse({}).success,
    );
    for (const { wire } of methods)
      for (const name of ['../x', 'a\0', 'a'.repeat(65), '\ud800', ''])
        expect(await client.code(wire, { name, method: 'provider.list' })).toBe('INVALID_PARAMS');
    expect(edge.services.served).toHaveLength(0);
  });

  it('G217 are checked by the schema of their method', async () => {
    expect(await client.code('profiles.create', { name: 123 })).toBe('INVALID_PARAMS');
    const { error } = await client.call('profiles.configure', { name: 'writer' });
    expect(error).toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('no bot settings to change'),
    });
  });
});
