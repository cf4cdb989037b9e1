import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { until } from '../test/client.harness';
import { TestEdge, type TestGateway } from '../test/gateway.harness';

const TOKEN = 'a-token-for-tests';
const BYTES = 'abcdefghij';
const ticketSchema = z.strictObject({
  ticket: z.string().min(32),
  ttlSeconds: z.number(),
  url: z.string(),
  mimeType: z.string(),
  size: z.number(),
});

let edge: TestEdge;
let open: TestGateway;
let guarded: TestGateway;
beforeAll(async () => {
  edge = await TestEdge.start();
  open = await edge.gateway();
  guarded = await edge.gateway({
    token: TOKEN,
    environment: { FLOWLY_REQUIRE_LOOPBACK_AUTH: '1', FLOWLY_TRUSTED_PROXIES: '127.0.0.1' },
  });
});
beforeEach(() => edge.services.bus.redis.flushall());
afterAll(() => edge.stop());

const at = (name: string) => join(edge.home, 'media', name);
const withToken = { headers: { 'x-flowly-token': TOKEN } };
const stream = (id: string, headers: Record<string, string> = {}, method = 'GET') =>
  open.fetch(`/api/media/stream?id=${encodeURIComponent(id)}`, { method, headers });
const issue = async (id: unknown, gateway = guarded) => {
  const response = await gateway.fetch('/api/media/tickets', {
    method: 'POST',
    headers: { ...withToken.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ id }),
  });
  return { status: response.status, body: await response.json() };
};

it('answers 503 where there is no data folder', async () => {
  expect((await open.fetch('/api/media?id=a.png')).status).toBe(503);
  expect((await issue('a.png')).status).toBe(503);
  const response = await stream('a.png');
  expect([response.status, await response.json()]).toEqual([503, { error: 'no data volume' }]);
});

describe('with a data folder', () => {
  beforeAll(() => {
    mkdirSync(join(edge.home, 'media'));
    for (const name of ['a.png', 'a.svg', 'a.mp4', 'a.pdf', 'a.html', 'none', 'ä "b".txt'])
      writeFileSync(at(name), BYTES);
    writeFileSync(at('empty.png'), '');
    writeFileSync(at('large.png'), '');
    truncateSync(at('large.png'), 26_214_401);
    writeFileSync(join(edge.home, 'secret.png'), 'secret');
    writeFileSync(at('.hidden'), 'hidden');
    symlinkSync(join(edge.home, 'secret.png'), at('link.png'));
    mkdirSync(at('folder.png'));
    execFileSync('mkfifo', [at('pipe.png')]);
  });

  it('an image comes as a data address', async () => {
    const response = await open.fetch('/api/media?id=a.png');
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        dataUrl: `data:image/png;base64,${Buffer.from(BYTES).toString('base64')}`,
        fileName: 'a.png',
        mimeType: 'image/png',
      },
    ]);
  });

  it.each([
    ['', 400, 'invalid id'],
    ['?id=', 400, 'invalid id'],
    ['?id=a.png&id=a.svg', 400, 'invalid id'],
    ['?id=../secret.png', 400, 'invalid id'],
    ['?id=..%2Fsecret.png', 400, 'invalid id'],
    ['?id=.hidden', 400, 'invalid id'],
    ['?id=a..png', 400, 'invalid id'],
    ['?id=a.png%00', 400, 'invalid id'],
    ['?id=link.png', 403, 'forbidden'],
    ['?id=folder.png', 403, 'forbidden'],
    ['?id=pipe.png', 403, 'forbidden'],
    ['?id=missing.png', 404, 'not found'],
    ['?id=large.png', 413, 'too large'],
    ['?id=a.pdf', 415, 'not an image'],
  ])('/api/media%s is %i', async (query, status, error) => {
    const response = await open.fetch(`/api/media${query}`);
    expect([response.status, await response.json()]).toEqual([status, { error }]);
  });

  it.each(['link.png', 'folder.png', 'pipe.png', '../secret.png', 'missing.png', 7, null])(
    'no stream and no ticket for %j',
    async (id) => {
      const { status } = await issue(id);
      expect([400, 403, 404]).toContain(status);
      expect((await stream(String(id))).status).toBe(typeof id === 'string' ? status : 404);
    },
  );

  it('streams a whole file, told how to be handled', async () => {
    const response = await stream('a.png');
    expect([response.status, await response.text()]).toEqual([200, BYTES]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'content-disposition': `inline; filename="a.png"; filename*=UTF-8''a.png`,
    });
  });

  it.each([
    ['a.mp4', 'inline', 'video/mp4'],
    ['a.svg', 'attachment', 'image/svg+xml'],
    ['a.pdf', 'attachment', 'application/pdf'],
    ['a.html', 'attachment', 'text/html'],
    ['none', 'attachment', 'application/octet-stream'],
  ])('%s is an %s', async (id, disposition, type) => {
    const { headers } = await stream(id);
    expect(headers.get('content-disposition')).toMatch(new RegExp(`^${disposition};`));
    expect(headers.get('content-type')).toBe(type);
  });

  it('a name of any characters stays a name', async () => {
    const { headers } = await stream('ä "b".txt');
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="_ _b_.txt"; filename*=UTF-8''%C3%A4%20%22b%22.txt`,
    );
  });

  it.each([
    ['bytes=2-4', 206, 'cde', 'bytes 2-4/10'],
    ['bytes=7-', 206, 'hij', 'bytes 7-9/10'],
    ['bytes=-2', 206, 'ij', 'bytes 8-9/10'],
    ['bytes=0-99', 206, BYTES, 'bytes 0-9/10'],
    ['bytes=1-2,4-5', 200, BYTES, null],
    ['nonsense', 200, BYTES, null],
  ])('Range %s', async (range, status, text, contentRange) => {
    const response = await stream('a.png', { range });
    expect([response.status, await response.text()]).toEqual([status, text]);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(response.headers.get('content-length')).toBe(String(text.length));
  });

  it.each(['bytes=10-', 'bytes=-0'])('Range %s is none of this file', async (range) => {
    const response = await stream('a.png', { range });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe('bytes */10');
  });

  it('a part of a file that has changed since is not given as one of it', async () => {
    const etag = (await stream('a.png')).headers.get('etag') ?? '';
    const part = (condition: string) =>
      stream('a.png', { range: 'bytes=0-1', 'if-range': condition });
    expect((await part(etag)).status).toBe(206);
    expect((await part('"other"')).status).toBe(200);
  });

  it('HEAD says the same without the bytes', async () => {
    const response = await stream('a.png', { range: 'bytes=2-4' }, 'HEAD');
    expect([response.status, await response.text()]).toEqual([206, '']);
    expect(response.headers.get('content-length')).toBe('3');
    expect(response.headers.get('content-range')).toBe('bytes 2-4/10');
    const whole = await stream('large.png', {}, 'HEAD');
    expect([whole.status, whole.headers.get('content-length')]).toEqual([200, '26214401']);
  });

  it('an empty file is empty', async () => {
    const response = await stream('empty.png');
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('content-length')).toBe('0');
    expect((await stream('empty.png', { range: 'bytes=0-' })).status).toBe(416);
  });

  it('a client that goes in the middle costs no open file', async () => {
    const openFiles = async () => (await readdir('/proc/self/fd')).length;
    const before = await openFiles();
    for (let count = 0; count < 20; count++) {
      const cancel = new AbortController();
      const response = await open.fetch('/api/media/stream?id=large.png', {
        signal: cancel.signal,
      });
      await response.body?.getReader().read();
      cancel.abort();
    }
    await until(async () => (await openFiles()) <= before + 5);
  });

  describe('when clients must show the token', () => {
    it('the routes ask for it, and a stream for its ticket', async () => {
      expect((await guarded.fetch('/api/media?id=a.png')).status).toBe(401);
      expect((await guarded.fetch('/api/media/tickets', { method: 'POST' })).status).toBe(401);
      expect((await guarded.fetch('/api/media/stream?id=a.png')).status).toBe(401);
      expect((await guarded.fetch('/api/media/stream?id=a.png', withToken)).status).toBe(401);
      expect((await guarded.fetch('/api/media?id=a.png', withToken)).status).toBe(200);
    });

    it('a ticket is for one file, at any gateway, as often as a player asks', async () => {
      const { status, body } = await issue('a.png');
      expect(status).toBe(200);
      const { ticket, ttlSeconds, url, mimeType, size } = ticketSchema.parse(body);
      expect({ ttlSeconds, mimeType, size }).toEqual({
        ttlSeconds: 900,
        mimeType: 'image/png',
        size: 10,
      });
      expect(url).toBe(`/api/media/stream?id=a.png&ticket=${encodeURIComponent(ticket)}`);
      const second = await edge.gateway({
        token: TOKEN,
        environment: { FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
      });
      for (const gateway of [guarded, guarded, second])
        expect(await (await gateway.fetch(url)).text()).toBe(BYTES);
      const other = url.replace('a.png', 'a.svg');
      expect((await guarded.fetch(other)).status).toBe(401);
      expect((await guarded.fetch(`${url}&id=a.svg`)).status).toBe(200);
      expect(await (await guarded.fetch(`${url}&id=a.svg`)).text()).toBe(BYTES);
      expect((await guarded.fetch(`/api/media/stream?id=a.svg&${url.split('?')[1]}`)).status).toBe(
        401,
      );
    });

    it('a ticket for a file opens no socket, and one for a socket no file', async () => {
      const { ticket } = ticketSchema.parse((await issue('a.png')).body);
      await expect(guarded.client(`?ticket=${ticket}`)).rejects.toThrow('401');
      const response = await guarded.fetch('/api/auth/ws-ticket', { method: 'POST', ...withToken });
      const socket = z.object({ ticket: z.string() }).parse(await response.json());
      const url = `/api/media/stream?id=a.png&ticket=${socket.ticket}`;
      expect((await guarded.fetch(url)).status).toBe(401);
    });

    it('ends with its time', async () => {
      const short = await edge.gateway({
        token: TOKEN,
        environment: { FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
        limits: { mediaTicketMs: 30 },
      });
      const { url } = ticketSchema.parse((await issue('a.png', short)).body);
      await until(async () => (await short.fetch(url)).status === 401);
    });

    it('ten wrong tickets lock their address out', async () => {
      const headers = { 'x-forwarded-for': '192.0.2.7' };
      const wrong = '/api/media/stream?id=a.png&ticket=wrong';
      for (let count = 0; count < 10; count++)
        expect((await guarded.fetch(wrong, { headers })).status).toBe(401);
      expect((await guarded.fetch(wrong, { headers })).status).toBe(429);
      const { url } = ticketSchema.parse((await issue('a.png')).body);
      expect((await guarded.fetch(url, { headers })).status).toBe(429);
      expect((await guarded.fetch(url)).status).toBe(200);
    });
  });

  it.each(['/api/media?id=a.png', '/api/media/stream?id=a.png'])(
    'a page of another site does not get %s',
    async (path) => {
      for (const headers of [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site' },
      ])
        expect((await open.fetch(path, { headers })).status).toBe(403);
    },
  );
});
