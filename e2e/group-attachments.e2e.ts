import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GroupMessage } from '@flowly/contract';
import { makeGroup, sendTo, settled } from '@flowly/testing';
import sharp from 'sharp';
import { readGroupValue } from './support/group-database';
import { groupPrefix, mediaFolder, mediaNames, picture, putMedia } from './support/media';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer', 'reviewer'] });
const brief = { fileName: 'brief.txt', mimeType: 'text/plain', content: 'SGVsbG8=' };
const silent = { memberPolicies: { default: 'mentioned', writer: 'mentioned' } };

const inMedia = (name = '') => path.join(mediaFolder(world.system.home), name);
const ownMedia = (bot: string) => path.join(world.system.home, 'profiles', bot, 'media');
const group = (extra: Record<string, unknown> = silent) =>
  makeGroup(world.client, ['default', 'writer'], extra);
const filesOf = (message: GroupMessage | undefined) => message?.attachments ?? [];
const refusal = (roomId: string, params: Record<string, unknown>) =>
  world.client.refusal('profiles.rooms.send', { roomId, content: 'x', ...params });

it('X031, X036: files alone are a message, content wins over an address and loses its prefix', async () => {
  const { id } = await group();
  const room = await sendTo(world.client, id, '', {
    attachments: [
      {
        ...brief,
        content: 'data:text/plain;base64,aGk=',
        cdnUrl: 'https://example.com/a.txt',
        filePath: '/etc/passwd',
      },
    ],
  });
  const [message] = room.messages ?? [];
  expect(message).toMatchObject({ role: 'user', content: 'Review the attached files.' });
  const [file] = filesOf(message);
  expect(file).toEqual({
    fileName: 'brief.txt',
    mimeType: 'text/plain',
    kind: 'file',
    status: 'ready',
    size: 2,
    mediaId: expect.stringMatching(new RegExp(`^${groupPrefix(id)}[0-9a-f]{32}\\.txt$`)),
  });
  expect(readFileSync(inMedia(file?.mediaId), 'utf8')).toBe('hi');
  expect(statSync(inMedia(file?.mediaId)).mode & 0o777).toBe(0o600);
  expect(room.latestMessage).not.toHaveProperty('attachments');
});

it('X032: a bad file is told before the group is looked for', async () => {
  const attachments = [{ ...brief, content: 'no base64!' }];
  expect((await refusal(randomUUID(), { attachments })).code).toBe('INVALID_PARAMS');
  expect((await refusal(randomUUID(), { attachments: [brief] })).code).toBe('ROOM_NOT_FOUND');
});

it('X035: two files of 13 MiB are INVALID_PARAMS, one that is too long is ROOM_ATTACHMENT_TOO_LARGE', async () => {
  const { id } = await group();
  const before = mediaNames(world.system.home);
  const big = { ...brief, content: Buffer.alloc(13 * 1024 * 1024, 7).toString('base64') };
  expect((await refusal(id, { attachments: [big, big] })).code).toBe('INVALID_PARAMS');
  const tooLong = { ...brief, content: 'A'.repeat(34_952_537) };
  expect((await refusal(id, { attachments: [tooLong] })).code).toBe('ROOM_ATTACHMENT_TOO_LARGE');
  expect(mediaNames(world.system.home)).toEqual(before);
}, 60_000);

it('25 MiB in one file go through, and their bytes come back', async () => {
  const { id } = await group();
  const bytes = Buffer.alloc(26_214_400, 'flowly');
  const room = await sendTo(world.client, id, 'large', {
    attachments: [{ fileName: 'large.bin', mimeType: 'x/y', content: bytes.toString('base64') }],
  });
  const [file] = filesOf(room.messages?.[0]);
  expect(file).toMatchObject({ size: 26_214_400, kind: 'file' });
  const query = `id=${file?.mediaId ?? ''}`;
  const response = await fetch(`${world.system.url}/api/media/stream?${query}`);
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
}, 60_000);

it('an image gets a thumbnail and a size; the models that answer are given the files', async () => {
  const { id } = await group({});
  const png = await picture(1_024, 768);
  const content = png.toString('base64');
  world.models.calls.length = 0;
  await sendTo(world.client, id, '@writer look', {
    attachments: [{ fileName: 'photo.png', mimeType: 'image/png', content }, brief],
  });
  const room = await settled(world.client, id);
  const [image, text] = filesOf(room.messages?.[0]);
  expect(image).toMatchObject({ kind: 'image', width: 1_024, height: 768, size: png.length });
  const thumbnail = Buffer.from(image?.thumbnail ?? '', 'base64');
  expect(await sharp(thumbnail).metadata()).toMatchObject({ format: 'jpeg', width: 512 });
  expect(text).not.toHaveProperty('thumbnail');
  const [call] = world.models.callsOf('writer');
  expect(JSON.stringify(call?.body)).toContain(content);
  const words = call?.messages.at(-1)?.content ?? '';
  expect(words).toContain('[Attachments: photo.png, brief.txt]');
  expect(words).toContain('[File brief.txt]\nHello\n[End of file brief.txt]');
  expect(world.models.callsOf('default')).toEqual([]);
});

it('X044: in a council the file goes to the members in round 1 only', async () => {
  const { id } = await group({ mode: 'council' });
  world.models.calls.length = 0;
  await sendTo(world.client, id, 'What do you think?', { attachments: [brief] });
  await settled(world.client, id);
  const given = world.models.calls.map(({ messages }) =>
    (messages.at(-1)?.content ?? '').includes('[File brief.txt]'),
  );
  expect(given.slice(0, 2)).toEqual([true, true]);
  expect(given.length).toBeGreaterThan(2);
  expect(given.slice(2)).not.toContain(true);
});

it('no name of a file leaves the folder', async () => {
  const { id } = await group();
  const names = ['../../../escape.txt', '/etc/cron.d/x', 'a\\..\\..\\b', '..', '.env'];
  const room = await sendTo(world.client, id, 'names', {
    attachments: names.map((fileName) => ({ ...brief, fileName, mimeType: 'x/unknown' })),
  });
  const files = filesOf(room.messages?.[0]);
  expect(files.map(({ fileName }) => fileName)).toEqual(names);
  for (const { mediaId } of files)
    expect(mediaId).toMatch(new RegExp(`^${groupPrefix(id)}[0-9a-f]{32}(\\.[a-z0-9]{1,10})?$`));
});

it('G121: a reply’s image becomes the group’s own, and goes with the group', async () => {
  const png = await picture();
  mkdirSync(ownMedia('writer'), { recursive: true });
  writeFileSync(path.join(ownMedia('writer'), 'generated.png'), png);
  world.models.script('writer', ['![x](generated.png)']);
  const { id } = await group({});
  await sendTo(world.client, id, '@writer make an image');
  const room = await settled(world.client, id);
  world.models.script('writer', ['Hello from writer']);
  const [file] = filesOf(room.messages?.at(-1));
  const mediaId = file?.mediaId ?? '';
  expect(mediaId.startsWith(groupPrefix(id))).toBe(true);
  expect(mediaId).not.toBe('generated.png');
  expect(file).toMatchObject({ kind: 'image', width: 64, height: 48, status: 'ready' });
  expect(readFileSync(inMedia(mediaId)).equals(png)).toBe(true);
  const stored = readGroupValue(
    world.system.home,
    'SELECT payload_json FROM room_messages WHERE room_id = ? ORDER BY seq DESC LIMIT 1',
    id,
  );
  expect(String(stored)).toContain(`"mediaId":"${mediaId}"`);
  await world.client.call('profiles.rooms.delete', { roomId: id });
  expect(mediaNames(world.system.home)).not.toContain(mediaId);
  expect(readFileSync(path.join(ownMedia('writer'), 'generated.png')).equals(png)).toBe(true);
});

describe('storage', () => {
  it('G180: what the files of each group take, whether a message refers to them or not', async () => {
    const { id, title } = await group();
    const before = await world.client.call('profiles.rooms.storage', {});
    const name = (end: string) => `${groupPrefix(id)}${end}`;
    putMedia(world.system.home, name('a.png'), Buffer.alloc(2_048));
    putMedia(world.system.home, name('b.png'), Buffer.alloc(1_024));
    putMedia(world.system.home, 'vid-generated.mp4', Buffer.alloc(9_999));
    const storage = await world.client.call('profiles.rooms.storage', {});
    const own = storage.rooms.find(({ roomId }) => roomId === id);
    expect(own).toEqual({ roomId: id, title, mediaBytes: 3_072, overNotice: false });
    expect(storage.totalBytes - before.totalBytes).toBe(3_072);
    const sizes = storage.rooms.map(({ mediaBytes }) => mediaBytes);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    const there = [name('a.png'), name('b.png'), 'vid-generated.mp4'];
    expect(mediaNames(world.system.home)).toEqual(expect.arrayContaining(there));
  });

  it('G181: a group that takes more than 500 MiB is told', async () => {
    const { id } = await group();
    const name = `${groupPrefix(id)}huge.bin`;
    putMedia(world.system.home, name, '');
    truncateSync(inMedia(name), 524_288_001);
    const { rooms, noticeBytes } = await world.client.call('profiles.rooms.storage', {});
    expect(rooms[0]).toMatchObject({ roomId: id, mediaBytes: 524_288_001, overNotice: true });
    expect(noticeBytes).toBe(524_288_000);
    expect(statSync(inMedia(name)).size).toBe(524_288_001);
  });
});
