import { randomUUID } from 'node:crypto';
import { isObject } from '@flowly/contract';
import { makeGroup, sendTo, until, wholeHistory } from '@flowly/testing';
import { ask, askUpgrade } from './support/http';
import { useWorld } from './support/world';

const world = useWorld({
  bots: ['writer'],
  limits: {
    tickMs: 300,
    pingMs: 300,
    frameBytes: 2_000_000,
    paramsBytes: 1_000_000,
    slowReaderMs: 500,
  },
});

const quiet = { memberPolicies: { default: 'mentioned', writer: 'mentioned' } };

describe('HTTP', () => {
  it('/health says who answers, always, to everybody', async () => {
    const { status, body } = await ask(`${world.system.url}/health`, {
      headers: { Host: 'evil.example', Origin: 'https://evil.example' },
    });
    expect(status).toBe(200);
    const health: unknown = JSON.parse(body);
    if (!isObject(health)) throw new Error('an object');
    const order = [
      'status',
      'service_id',
      'version',
      'runtime_owner',
      'auth_required',
      'capabilities',
    ];
    expect(Object.keys(health)).toEqual(order.filter((key) => key in health));
    expect(health).toMatchObject({
      status: 'ok',
      service_id: 'ai.flowly.gateway',
      auth_required: false,
      capabilities: ['tool_events', 'queue_while_busy', 'profile_host_v1'],
    });
  });

  it('/ready says that everything works together', async () => {
    const { status, body } = await ask(`${world.system.url}/ready`);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ status: 'ok', checks: expect.any(Object) });
  });

  it('/metrics has figures of sockets, calls, the event loop, queues and workers', async () => {
    await world.client.call('health');
    const { status, headers, body } = await ask(`${world.system.url}/metrics`);
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    for (const name of [/socket/i, /call/i, /event.?loop/i, /queue/i, /heartbeat|worker/i])
      expect(body).toMatch(name);
  });

  it('there are no tickets without auth', async () => {
    const answer = await ask(`${world.system.url}/api/auth/ws-ticket`, { method: 'POST' });
    expect(answer.status).toBe(404);
  });

  it.each(['/ready', '/metrics', '/ws'])('Host and Origin are looked at on %s', async (path) => {
    const { url } = world.system;
    const { host } = new URL(url);
    const status = async (headers: Record<string, string>) =>
      path === '/ws'
        ? (await askUpgrade(`${url}/ws`, headers)).status
        : (await ask(`${url}${path}`, { headers })).status;
    const good = path === '/ws' ? 101 : 200;
    expect(await status({ Host: host })).toBe(good);
    expect(await status({ Host: host, Origin: url })).toBe(good);
    expect(await status({ Host: `localhost:${new URL(url).port}` })).toBe(good);
    for (const headers of [
      { Host: 'evil.example' },
      { Host: host, Origin: 'https://evil.example' },
      { Host: host, Origin: 'http://127.0.0.1:1' },
      { Host: host, Origin: 'https://127.0.0.1' },
      { Host: host, Origin: 'null' },
      { Host: host, Origin: 'file://' },
      { Host: host, 'Sec-Fetch-Site': 'cross-site' },
    ])
      expect([headers, await status(headers)]).toEqual([headers, 403]);
    if (path === '/ws') {
      const refused = await askUpgrade(`${url}/ws`, { Host: 'evil.example' });
      expect(refused.body).toBe('forbidden host/origin');
    }
  });
});

describe('frames', () => {
  it('answers a ping and ticks', async () => {
    const client = await world.connect();
    client.raw('{"type":"ping","timestamp":{"any":1}}');
    const isPong = (frame: unknown) => isObject(frame) && frame['type'] === 'pong';
    expect(await client.waitForFrame(isPong)).toEqual({ type: 'pong', timestamp: { any: 1 } });
    const tick = await client.waitFor(({ event }) => event === 'tick');
    expect(tick).toEqual({ type: 'event', event: 'tick' });
  });

  it.each<[string, string | Buffer]>([
    ['no JSON', '{"type":'],
    ['a list', '[1]'],
    ['a number', '7'],
    ['null', 'null'],
    ['binary', Buffer.from('{"type":"ping"}')],
    ['an unknown type', '{"type":"hello"}'],
    ['no type', '{}'],
  ])('%s is answered with an error frame and the socket stays open', async (kind, data) => {
    const client = await world.connect();
    client.raw(data);
    const isError = (frame: unknown) => isObject(frame) && frame['type'] === 'error';
    const answer = await client.waitForFrame(isError);
    expect(answer).toEqual({ type: 'error', message: expect.any(String) });
    if (kind === 'no JSON') expect(answer).toMatchObject({ message: 'Invalid JSON' });
    expect(await client.call('health')).toEqual({ ok: true });
  });

  it('echoes the id as it came', async () => {
    const client = await world.connect();
    const ids = ['', 'r-1', 7, null, { a: [1] }, false];
    for (const id of ids) client.raw(JSON.stringify({ type: 'rpc', id, method: 'health' }));
    client.raw('{"type":"rpc","method":"health"}');
    const answers = () =>
      client.frames.flatMap((frame) =>
        isObject(frame) && frame['type'] === 'rpc' ? [frame['id']] : [],
      );
    await until(() => answers().length === ids.length + 1, 5_000, 'not all were answered');
    expect(answers()).toEqual([...ids, '']);
  });

  it('absent and null params are the empty object; others are refused', async () => {
    expect(await world.client.call('health', null)).toEqual({ ok: true });
    for (const params of [[], 'text', 7, true])
      expect((await world.client.refusal('profiles.list', params)).code).toBe('INVALID_PARAMS');
  });

  it.each(['nonsense', 'config.get', '__proto__', 'rooms.list', ''])(
    'the method %j is refused',
    async (method) => {
      expect(await world.client.refusal(method)).toMatchObject({
        code: 'INVALID_REQUEST',
        retryable: false,
      });
    },
  );

  it('a profiles method that is not there', async () => {
    expect((await world.client.refusal('profiles.nonsense')).code).toBe('METHOD_NOT_ALLOWED');
  });

  it('refuses nesting deeper than 64, and params that are too large', async () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
    const deep = await world.client.refusal('profiles.list', { x: nested(70) });
    expect(deep.code).toBe('INVALID_REQUEST');
    await world.client.call('profiles.list', { x: nested(50) });
    const large = await world.client.refusal('profiles.list', { x: 'x'.repeat(1_000_001) });
    expect(large.code).toBe('REQUEST_TOO_LARGE');
    const inner = await world.client.refusal('profiles.rpc', {
      name: 'default',
      method: 'sessions.list',
      params: { x: 'x'.repeat(1_000_001) },
    });
    expect(inner.code).toBe('REQUEST_TOO_LARGE');
  });

  it('1009: a frame beyond the limit closes the socket', async () => {
    const client = await world.connect();
    client.raw(JSON.stringify({ type: 'ping', timestamp: 'x'.repeat(2_100_000) }));
    expect((await client.closed).code).toBe(1009);
  });
});

describe('sockets', () => {
  it('4001: a newer socket of a client replaces the older one', async () => {
    const clientId = randomUUID();
    const older = await world.connect({ clientId });
    const newer = await world.connect({ clientId });
    expect((await older.closed).code).toBe(4001);
    expect(await newer.call('health')).toEqual({ ok: true });
  });

  it('a client id of another form is as none', async () => {
    const first = await world.connect({ clientId: 'not valid!' });
    const second = await world.connect({ clientId: 'not valid!' });
    expect(await first.call('health')).toEqual({ ok: true });
    expect(await second.call('health')).toEqual({ ok: true });
  });

  it('one that answers no ping is dropped, one that does stays', async () => {
    const silent = await world.connect({ socket: { autoPong: false } });
    const { code } = await silent.closed;
    expect(code).toBe(1006);
    expect(await world.client.call('health')).toEqual({ ok: true });
  });

  it('calls that change one target take effect in the order sent', async () => {
    const { id } = await makeGroup(world.client, ['default', 'writer'], quiet);
    const texts = Array.from({ length: 30 }, (_, index) => `message ${index}`);
    const sends = texts.map((content) => sendTo(world.client, id, content));
    const read = wholeHistory(world.client, id);
    await Promise.all(sends);
    expect((await read).map(({ content }) => content)).toEqual(texts);
  });

  it('a bot made on this socket is there for the calls behind it', async () => {
    const made = world.client.call('profiles.create', { name: 'quick', cloneFrom: null });
    const asked = world.client.rpc('quick', 'sessions.list');
    const settings = world.client.call('profiles.settings', { name: 'quick' });
    await made;
    expect(await asked).toEqual({ sessions: [] });
    expect((await settings).settings.name).toBe('quick');
  });

  it('1013: a socket that reads nothing is closed, and others are not slowed', async () => {
    const { id } = await makeGroup(world.client, ['default', 'writer'], quiet);
    const slow = await world.connect();
    await slow.call('profiles.rooms.list');
    slow.socket.pause();
    for (let count = 0; count < 40; count++)
      await sendTo(world.client, id, 'x'.repeat(30_000), { includeMessages: false });
    const began = performance.now();
    await world.client.call('health');
    expect(performance.now() - began).toBeLessThan(500);
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // it reads nothing for so long
    slow.socket.resume();
    expect([1013, 1006]).toContain((await slow.closed).code);
  });
});

it('a shutdown is announced, then the sockets are closed with 1001', async () => {
  const client = await world.connect();
  await client.call('health');
  const gone = world.system.service('gateway').kill('SIGTERM');
  expect((await client.closed).code).toBe(1001);
  await gone;
  expect(client.events.at(-1)).toMatchObject({
    event: 'gateway.stopping',
    data: { restarting: expect.any(Boolean) },
  });
});
