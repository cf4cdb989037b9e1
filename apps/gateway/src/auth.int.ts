import { isObject } from '@flowly/contract';
import { TestEdge, type TestGateway } from './test/gateway.harness';

const TOKEN = 'a-token-for-tests';
let edge: TestEdge;
let open: TestGateway;
let guarded: TestGateway;
beforeAll(async () => {
  edge = await TestEdge.start();
  open = await edge.gateway({
    environment: { FLOWLY_ALLOWED_ORIGINS: 'https://app.example,app://flowly' },
  });
  guarded = await edge.gateway({
    token: TOKEN,
    environment: { FLOWLY_REQUIRE_LOOPBACK_AUTH: '1', FLOWLY_TRUSTED_PROXIES: '127.0.0.1' },
  });
});
beforeEach(() => edge.services.bus.redis.flushall());
afterAll(() => edge.stop());

const from = (address: string) => ({ 'x-forwarded-for': address });
async function ticketOf(gateway: TestGateway): Promise<string> {
  const response = await gateway.fetch('/api/auth/ws-ticket', {
    method: 'POST',
    headers: { 'x-flowly-token': TOKEN },
  });
  const body: unknown = await response.json();
  expect([response.status, Object.keys(isObject(body) ? body : {})]).toEqual([
    200,
    ['ticket', 'ttl_seconds'],
  ]);
  return isObject(body) ? String(body['ticket']) : '';
}

describe('without auth', () => {
  it('a socket is open to whoever comes from the right place', async () => {
    await (await open.client()).end();
    await (await open.client('', { origin: open.url })).end();
    await (await open.client('', { origin: 'https://app.example' })).end();
    await (await open.client('', { origin: 'app://flowly' })).end();
  });

  it.each<Record<string, string>>([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'file://' },
    { host: 'evil.example' },
    { 'sec-fetch-site': 'cross-site' },
  ])('%p is refused, as a socket and for every route but /health', async (headers) => {
    await expect(open.client('', headers)).rejects.toThrow('403 forbidden host/origin');
    if (headers['host'] !== undefined) return; // fetch does not let a Host be set
    expect((await open.fetch('/ready', { headers })).status).toBe(403);
    expect((await open.fetch('/nowhere', { headers })).status).toBe(403);
    expect((await open.fetch('/health', { headers })).status).toBe(200);
  });

  it('there are no tickets', async () => {
    expect((await open.fetch('/api/auth/ws-ticket', { method: 'POST' })).status).toBe(404);
  });

  it('CORS headers are for configured origins alone', async () => {
    const allowed = await open.fetch('/health', { headers: { origin: 'https://app.example' } });
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
    const preflight = await open.fetch('/metrics', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example' },
    });
    expect(preflight.status).toBe(204);
    const other = await open.fetch('/health', { headers: { origin: 'https://other.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('a body over 1 MiB is refused', async () => {
    const body = JSON.stringify({ a: 'x'.repeat(1024 * 1024) });
    const headers = { 'content-type': 'application/json' };
    expect(
      (await open.fetch('/api/auth/ws-ticket', { method: 'POST', body, headers })).status,
    ).toBe(413);
  });
});

describe('with auth', () => {
  it('the token opens sockets and routes, X-Flowly-Token before Bearer', async () => {
    await (await guarded.client(`?token=${TOKEN}`)).end();
    const statusOf = async (headers: Record<string, string>) =>
      (await guarded.fetch('/metrics', { headers })).status;
    expect(await statusOf({ authorization: `Bearer ${TOKEN}` })).toBe(200);
    expect(await statusOf({ 'x-flowly-token': 'wrong', authorization: `Bearer ${TOKEN}` })).toBe(
      401,
    );
    const refused = await guarded.fetch('/metrics');
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { error: 'unauthorized', detail: 'Missing or invalid gateway token.' },
    ]);
    expect((await guarded.fetch('/health')).status).toBe(200);
    await expect(guarded.client()).rejects.toThrow('401 unauthorized');
    await expect(guarded.client('', { origin: 'file://' })).rejects.toThrow('401 unauthorized');
  });

  it('a ticket opens one socket at any gateway, and a wrong place does not use it up', async () => {
    const other = await edge.gateway({
      token: TOKEN,
      environment: { FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
    });
    const ticket = await ticketOf(guarded);
    await expect(
      other.client(`?ticket=${ticket}`, { origin: 'https://evil.example' }),
    ).rejects.toThrow('403');
    await (await other.client(`?ticket=${ticket}`)).end();
    await expect(guarded.client(`?ticket=${ticket}`)).rejects.toThrow('401');
  });

  it('a ticket is good for its time only', async () => {
    const quick = await edge.gateway({
      token: TOKEN,
      limits: { ticketMs: 30 },
      environment: { FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
    });
    const ticket = await ticketOf(quick);
    const key = edge.services.bus.keys.ticket(ticket);
    while ((await edge.services.bus.redis.exists(key)) === 1)
      await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(quick.client(`?ticket=${ticket}`)).rejects.toThrow('401');
  });

  it('ten wrong credentials lock an address out, missing ones and wrong places do not count', async () => {
    const wrong = { ...from('203.0.113.9'), 'x-flowly-token': 'wrong' };
    for (let count = 0; count < 20; count += 1) {
      await guarded.fetch('/metrics', { headers: from('203.0.113.9') });
      await guarded.fetch('/metrics', { headers: { ...wrong, 'sec-fetch-site': 'cross-site' } });
    }
    for (let count = 0; count < 10; count += 1) {
      expect((await guarded.fetch('/metrics', { headers: wrong })).status).toBe(401);
    }
    const right = { ...from('203.0.113.9'), 'x-flowly-token': TOKEN };
    expect((await guarded.fetch('/metrics', { headers: right })).status).toBe(429);
    await expect(guarded.client(`?token=${TOKEN}`, from('203.0.113.9'))).rejects.toThrow('429');
    const other = { ...right, ...from('203.0.113.10') };
    expect((await guarded.fetch('/metrics', { headers: other })).status).toBe(200);
    expect((await guarded.fetch('/health')).status).toBe(200);
  });

  it('a lock ends after its time', async () => {
    const quick = await edge.gateway({
      token: TOKEN,
      limits: { lockOutMs: 50, credentialFailures: 1 },
      environment: { FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
    });
    await quick.fetch('/metrics', { headers: { 'x-flowly-token': 'wrong' } });
    const headers = { 'x-flowly-token': TOKEN };
    const statuses = new Set<number>();
    while (!statuses.has(200)) statuses.add((await quick.fetch('/metrics', { headers })).status);
    expect(statuses.has(429)).toBe(true);
  });
});
