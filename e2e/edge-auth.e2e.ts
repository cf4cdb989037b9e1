import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isObject } from '@flowly/contract';
import { startSystem, until } from '@flowly/testing';
import { ask, askUpgrade } from './support/http';
import { useWorld } from './support/world';

const TOKEN = 'a-token-of-the-test-7f3c';
const LOCK_OUT_MS = 1_500;
const world = useWorld({
  env: {
    FLOWLY_REQUIRE_LOOPBACK_AUTH: '1',
    FLOWLY_GATEWAY_TOKEN: TOKEN,
    FLOWLY_ALLOWED_ORIGINS: 'https://app.example',
    FLOWLY_TRUSTED_PROXIES: '127.0.0.1',
    LOG_LEVEL: 'trace',
  },
  limits: { lockOutMs: LOCK_OUT_MS, ticketMs: 800 },
  credential: { headers: { 'X-Flowly-Token': TOKEN } },
});

const takeTicket = async (): Promise<string> => {
  const answer = await ask(`${world.system.url}/api/auth/ws-ticket`, {
    method: 'POST',
    headers: { 'X-Flowly-Token': TOKEN },
  });
  expect(answer.status).toBe(200);
  const body: unknown = JSON.parse(answer.body);
  if (!isObject(body) || typeof body['ticket'] !== 'string') throw new Error('a ticket');
  expect(Object.keys(body).sort()).toEqual(['ticket', 'ttl_seconds']);
  return body['ticket'];
};

it('the token opens the socket, as header or in the query', async () => {
  for (const options of [
    { headers: { 'X-Flowly-Token': TOKEN } },
    { headers: { Authorization: `Bearer ${TOKEN}` } },
    { query: { token: TOKEN } },
  ]) {
    const client = await world.connect(options);
    expect(await client.call('health')).toEqual({ ok: true });
  }
});

it('without a credential there is no socket', async () => {
  const refused = await askUpgrade(`${world.system.url}/ws`);
  expect(refused).toMatchObject({ status: 401, body: 'unauthorized' });
});

it('X-Flowly-Token wins over Authorization', async () => {
  const refused = await ask(`${world.system.url}/metrics`, {
    headers: { 'X-Flowly-Token': 'wrong-one', Authorization: `Bearer ${TOKEN}` },
  });
  expect(refused.status).toBe(401);
});

it('a ticket opens one socket, once, and only for a while', async () => {
  const { url } = world.system;
  const ticket = await takeTicket();
  const client = await world.connect({ query: { ticket } });
  expect(await client.call('health')).toEqual({ ok: true });
  expect((await askUpgrade(`${url}/ws?ticket=${ticket}`)).status).toBe(401);
  const late = await takeTicket();
  await new Promise((resolve) => setTimeout(resolve, 1_000)); // longer than ticketMs
  expect((await askUpgrade(`${url}/ws?ticket=${late}`)).status).toBe(401);
});

it('a ticket is not used up by a request from a wrong place', async () => {
  const ticket = await takeTicket();
  const refused = await askUpgrade(`${world.system.url}/ws?ticket=${ticket}`, {
    Origin: 'https://evil.example',
  });
  expect(refused).toMatchObject({ status: 403, body: 'forbidden host/origin' });
  const client = await world.connect({ query: { ticket } });
  expect(await client.call('health')).toEqual({ ok: true });
});

it('a ticket of one gateway opens a socket at another, once', async () => {
  const other = await world.system.add('gateway');
  await world.system.ready();
  const ticket = await takeTicket();
  const client = await world.connect({ query: { ticket } }, other);
  expect(await client.call('health')).toEqual({ ok: true });
  expect((await askUpgrade(`${world.system.url}/ws?ticket=${ticket}`)).status).toBe(401);
}, 40_000);

it('a configured origin is let in, with a credential', async () => {
  const { url } = world.system;
  const headers = { Origin: 'https://app.example' };
  expect((await askUpgrade(`${url}/ws`, headers)).status).toBe(401);
  expect((await askUpgrade(`${url}/ws?token=${TOKEN}`, headers)).status).toBe(101);
  const { headers: answered } = await ask(`${url}/health`, { headers });
  expect(answered['access-control-allow-origin']).toBe('https://app.example');
});

it('a credential comes over loopback or TLS only, as a proxy that is trusted tells', async () => {
  const configure = {
    name: 'default',
    credential: { provider: 'vllm', apiBase: 'http://127.0.0.1:9/v1', apiKey: 'sk-over-the-net' },
  };
  const through = (proto: string) =>
    world.connect({
      headers: {
        'X-Flowly-Token': TOKEN,
        'X-Forwarded-For': '203.0.113.9',
        'X-Forwarded-Proto': proto,
      },
    });
  const plain = await through('http');
  expect(await plain.refusal('profiles.configure', configure)).toMatchObject({
    code: 'SECURE_TRANSPORT_REQUIRED',
    retryable: false,
  });
  const secure = await through('https');
  expect(await secure.call('profiles.configure', configure)).toMatchObject({ ok: true });
});

it('each route asks for the token or not', async () => {
  const { url } = world.system;
  const refusal = JSON.stringify({
    error: 'unauthorized',
    detail: 'Missing or invalid gateway token.',
  });
  const health = await ask(`${url}/health`);
  expect(health).toMatchObject({ status: 200 });
  expect(JSON.parse(health.body)).toMatchObject({ auth_required: true });
  expect((await ask(`${url}/ready`)).status).toBe(200);
  expect(await ask(`${url}/metrics`)).toMatchObject({ status: 401, body: refusal });
  const ticket = await ask(`${url}/api/auth/ws-ticket`, { method: 'POST' });
  expect(ticket).toMatchObject({ status: 401, body: refusal });
  const figures = await ask(`${url}/metrics`, { headers: { 'X-Flowly-Token': TOKEN } });
  expect(figures.status).toBe(200);
});

it("an app's own origin is left to the credential", async () => {
  const headers = { Origin: 'file://' };
  expect((await askUpgrade(`${world.system.url}/ws`, headers)).status).toBe(401);
  const granted = await askUpgrade(`${world.system.url}/ws?token=${TOKEN}`, headers);
  expect(granted.status).toBe(101);
  const foreign = { Origin: 'https://evil.example', 'X-Flowly-Token': TOKEN };
  expect((await askUpgrade(`${world.system.url}/ws`, foreign)).status).toBe(403);
});

it('no CORS for strangers', async () => {
  const { headers } = await ask(`${world.system.url}/health`, {
    headers: { Origin: 'https://evil.example' },
  });
  expect(headers['access-control-allow-origin']).toBeUndefined();
});

it('ten wrong credentials lock the address out for a while; missing ones do not count', async () => {
  const { url } = world.system;
  const status = async (token?: string) =>
    (
      await ask(
        `${url}/metrics`,
        token === undefined ? {} : { headers: { 'X-Flowly-Token': token } },
      )
    ).status;
  await until(async () => (await status(TOKEN)) === 200, 5_000, 'still locked out');
  await new Promise((resolve) => setTimeout(resolve, LOCK_OUT_MS)); // earlier failures are forgotten
  for (let count = 0; count < 15; count++) expect(await status()).toBe(401);
  expect(await status(TOKEN)).toBe(200);
  for (let count = 0; count < 10; count++) expect(await status(`wrong-token-${count}`)).toBe(401);
  expect(await status(TOKEN)).toBe(429);
  expect((await askUpgrade(`${url}/ws?token=${TOKEN}`)).status).toBe(429);
  expect((await ask(`${url}/health`)).status).toBe(200);
  await until(async () => (await status(TOKEN)) === 200, LOCK_OUT_MS * 3, 'locked out for ever');
});

it('no credential of a query stands in a log', () => {
  expect(world.system.stdout).not.toContain(TOKEN);
});

it('a token that is made is stored for the owner only', async () => {
  const own = await startSystem({
    services: ['bot-runner', 'gateway'],
    env: { FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
  });
  try {
    const place = await until(
      () => /"file":"([^"]*token)"/.exec(own.stdout)?.[1],
      15_000,
      () => `no place of the token is printed: ${own.stdout}`,
    );
    expect(path.dirname(place)).toBe(own.home);
    expect(statSync(place).mode & 0o777).toBe(0o600);
    const token = (await readFile(place, 'utf8')).trim();
    expect(token.length).toBeGreaterThanOrEqual(32);
    expect(own.stdout).not.toContain(token);
    const answer = await until(
      () =>
        ask(`${own.url}/metrics`, { headers: { 'X-Flowly-Token': token } }).catch(() => undefined),
      15_000,
      'the gateway does not listen',
    );
    expect(answer.status).toBe(200);
  } finally {
    await own.stop();
  }
}, 60_000);
