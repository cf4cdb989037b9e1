import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { makeGroup, sendTo } from '@flowly/testing';
import { mediaFolder } from './support/media';
import { useWorld } from './support/world';

const TOKEN = 'a-token-for-the-tests';
const world = useWorld({
  env: { FLOWLY_GATEWAY_TOKEN: TOKEN, FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
  credential: { headers: { 'x-flowly-token': TOKEN } },
  bots: ['writer'],
});
const ticketSchema = z.object({ ticket: z.string(), url: z.string(), size: z.number() });

const ask = (route: string, init: RequestInit = {}) => fetch(`${world.system.url}${route}`, init);
const withToken = (init: RequestInit = {}) => ({
  ...init,
  headers: { 'x-flowly-token': TOKEN, 'content-type': 'application/json' },
});
const ticketFor = (id: string) =>
  ask('/api/media/tickets', withToken({ method: 'POST', body: JSON.stringify({ id }) }));

it('a file of a message is had by its ticket, whole and in parts, at every gateway', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer'], {
    memberPolicies: { default: 'mentioned', writer: 'mentioned' },
  });
  const content = Buffer.from('0123456789').toString('base64');
  const room = await sendTo(world.client, id, 'listen', {
    attachments: [{ fileName: 'a.mp3', mimeType: 'audio/mpeg', content }],
  });
  const mediaId = room.messages?.[0]?.attachments?.[0]?.mediaId ?? '';
  const { url, size } = ticketSchema.parse(await (await ticketFor(mediaId)).json());
  expect(size).toBe(10);

  const second = await world.system.add('gateway');
  await world.system.ready();
  for (const origin of [world.system.url, second.url]) {
    const whole = await fetch(origin + url);
    expect([whole.status, await whole.text()]).toEqual([200, '0123456789']);
    expect(whole.headers.get('content-type')).toBe('audio/mpeg');
    const part = await fetch(origin + url, { headers: { range: 'bytes=3-5' } });
    expect([part.status, await part.text()]).toEqual([206, '345']);
  }
  expect((await ask(url.replace(mediaId, 'other.mp3'))).status).toBe(401);
  expect((await ask(url, { headers: { range: 'bytes=10-' } })).status).toBe(416);
});

it('without token or ticket nothing is told, and no ticket stands in a log', async () => {
  writeFileSync(path.join(mediaFolder(world.system.home), 'a.png'), 'png');
  for (const route of [
    '/api/media?id=a.png',
    '/api/media?id=missing',
    '/api/media/stream?id=a.png',
  ])
    expect((await ask(route)).status).toBe(401);
  expect((await ask('/api/media?id=a.png', withToken())).status).toBe(200);
  expect((await ask('/api/media?id=missing', withToken())).status).toBe(404);
  expect((await ask('/api/media?id=..%2Fconfig.json', withToken())).status).toBe(400);
  const { ticket, url } = ticketSchema.parse(await (await ticketFor('a.png')).json());
  expect((await ask(url)).status).toBe(200);
  expect(world.system.stdout).not.toContain(ticket);
});
