import { TestEdge, type TestGateway } from './test/gateway.harness';
import { until, type TestClient } from './test/client.harness';

let edge: TestEdge;
let gateway: TestGateway;
let client: TestClient;
beforeAll(async () => {
  edge = await TestEdge.start();
  await edge.services.work('bot-commands', 'group-commands');
  gateway = await edge.gateway({ limits: { tickMs: 50, pingMs: 50 } });
});
beforeEach(async () => {
  client = await gateway.client();
});
afterEach(() => client.end());
afterAll(() => edge.stop());

describe('frames (wire.md §3, §4)', () => {
  it('are answered each with what it is, and the socket stays open', async () => {
    client.send('nonsense');
    client.send('[]');
    client.ws.send(Buffer.from('{"type":"ping"}'), { binary: true });
    client.send({ type: 'hello' });
    client.send({ type: 'ping', timestamp: 17 });
    await until(() => client.frames.some(({ type }) => type === 'pong'));
    const own = client.frames.filter(({ type }) => type !== 'event');
    expect(own[0]).toEqual({ type: 'error', message: 'Invalid JSON' });
    expect(own.slice(1, 4).map(({ type }) => type)).toEqual(['error', 'error', 'error']);
    expect(own[4]).toEqual({ type: 'pong', timestamp: 17 });
  });

  it('echo the id as it came', async () => {
    for (const id of ['a', 7, null, { x: [1] }]) client.send({ type: 'rpc', id, method: 'health' });
    client.send({ type: 'rpc', method: 'health' });
    await until(() => client.frames.filter(({ type }) => type === 'rpc').length === 5);
    const ids = client.frames.filter(({ type }) => type === 'rpc').map(({ id }) => id);
    expect(ids).toEqual(['a', 7, null, { x: [1] }, '']);
  });

  it('of unknown methods are refused by the kind of method', async () => {
    expect(await client.code('no.such.method')).toBe('INVALID_REQUEST');
    expect(await client.code('profiles.nothing')).toBe('METHOD_NOT_ALLOWED');
    expect(await client.code('health', [1])).toBe('INVALID_PARAMS');
    expect(await client.call('health')).toMatchObject({ result: { ok: true } });
  });

  it('tick without an id of an event, and live clients answer pings', async () => {
    await until(() => client.events('tick').length > 4);
    expect(client.events('tick')[0]).toEqual({ type: 'event', event: 'tick' });
    expect(client.closed).toBeNull();
  });

  it('over the largest size close the socket with 1009', async () => {
    const small = await edge.gateway({ limits: { frameBytes: 1_000 } });
    const one = await small.client();
    one.send('x'.repeat(1_001));
    expect(await one.closing()).toBe(1009);
  });

  it('say what the gateway can do', async () => {
    const { result } = await client.call('system.capabilities');
    expect(result).toMatchObject({
      version: 1,
      chatSteeringVersion: 0,
      runtime: { role: 'host', profile: 'default' },
    });
    const host = await client.call('profiles.capabilities');
    expect(host['result']).toMatchObject({ version: 2, rpcIdentityGuard: true });
  });
});

describe('a client that does not answer pings', () => {
  it('is dropped', async () => {
    const silent = await gateway.client();
    silent.ws.pong = () => undefined;
    Reflect.set(silent.ws, '_autoPong', false);
    await until(() => silent.closed !== null);
    expect(silent.closed?.code).toBe(1006);
  });
});
