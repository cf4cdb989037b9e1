import { networkInterfaces } from 'node:os';
import { TestEdge } from './test/gateway.harness';

/** This machine's own address on a network: who comes from there is a stranger to loopback. */
const lan =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '';

const TOKEN = 'a-token-of-the-test';
const params = { name: 'writer', credential: { provider: 'openai', apiKey: 'sk-secret' } };

let edge: TestEdge;
beforeAll(async () => {
  edge = await TestEdge.start();
  await edge.services.work('bot-commands');
  const { redis, keys } = edge.services.bus;
  await redis.set(keys.sealKey, 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo');
});
beforeEach(() => (edge.services.served.length = 0));
afterAll(() => edge.stop());

/** How a credential fares that comes with these headers. */
async function sent(host: string, proxies: string, headers: Record<string, string>) {
  const environment = { FLOWLY_GATEWAY_HOST: host, FLOWLY_TRUSTED_PROXIES: proxies };
  const gateway = await edge.gateway({ environment, token: TOKEN });
  const client = await gateway.client('', { 'x-flowly-token': TOKEN, ...headers });
  const code = await client.code('profiles.configure', params);
  expect(edge.services.served).toHaveLength(code === 'no error' ? 1 : 0);
  expect(await client.code('profiles.configure', { name: 'writer', model: 'm' })).toBe('no error');
  expect(JSON.stringify(client.frames)).not.toContain('sk-secret');
  await client.end();
  await gateway.stop();
  return code;
}

const overHttp = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
const overTls = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
const [taken, refused] = ['no error', 'SECURE_TRANSPORT_REQUIRED'];

it.each<[string, string, Record<string, string>, string]>([
  ['with nothing in between', '', {}, taken],
  ['with headers of a proxy that is not configured', '', overHttp, taken],
  ['through a configured proxy that was reached by http', '127.0.0.1', overHttp, refused],
  ['through a configured proxy that was reached by TLS', '127.0.0.1', overTls, taken],
  ['through one that does not say how', '127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, refused],
  [
    'through one that says `Forwarded`, by TLS',
    '127.0.0.1',
    { forwarded: 'for=203.0.113.9;proto=https' },
    taken,
  ],
  [
    'through one that says `Forwarded`, by http',
    '127.0.0.1',
    { forwarded: 'for=203.0.113.9;proto=http' },
    refused,
  ],
])('a credential over loopback %s', async (_, proxies, headers, code) => {
  expect(await sent('127.0.0.1', proxies, headers)).toBe(code);
});

it.each<[string, string, Record<string, string>, string]>([
  ['with nothing in between', '', {}, refused],
  ['with headers that anybody can write', '', overTls, refused],
  ['with `Forwarded` that anybody can write', '', { forwarded: 'proto=https' }, refused],
  ['through another proxy than the configured one', '198.51.100.1', overTls, refused],
  ['through a configured proxy, by TLS', lan, overTls, taken],
  ['through a configured proxy, by http', lan, overHttp, refused],
  ['through a configured proxy that says nothing', lan, {}, refused],
])('a credential over the network %s', async (_, proxies, headers, code) => {
  // It needs a machine that has an address on a network.
  expect(lan).not.toBe('');
  expect(await sent(lan, proxies, headers)).toBe(code);
});
