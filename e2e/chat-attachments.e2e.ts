import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { CallError } from '@flowly/testing';
import { Conversation, textOf, type Way } from './support/conversation';
import { mediaFolder, picture } from './support/media';
import { everythingIn } from './support/redis-dump';
import { useWorld } from './support/world';

// A file of the web is given up at once: no test goes there.
const world = useWorld({ bots: ['writer'], limits: { attachmentFetchMs: 200 } });

const MEGABYTE = 1_000_000;
const MEBIBYTE = 1_048_576;
const hello = { fileName: 'draft.txt', mimeType: 'text/plain', content: 'SGVsbG8=' };
const zeros = (bytes: number) => ({
  fileName: 'large.bin',
  mimeType: 'application/zip',
  content: Buffer.alloc(bytes).toString('base64'),
});
const converse = (way: Way = 'rpc', bot = 'writer', session = 'ios') =>
  new Conversation(world.client, `${session}:${randomUUID()}`, way, bot);
const refusal = async (
  attachments: unknown,
  more: Record<string, unknown> = {},
): Promise<CallError> => {
  const sessionKey = 'ios:thread-1';
  const params = { sessionKey, message: 'x', attachments, ...more };
  return world.client.refusal('profiles.rpc', { name: 'writer', method: 'chat.send', params });
};
const mediaOf = (bot: string, mediaId = '') =>
  bot === 'default'
    ? path.join(mediaFolder(world.system.home), mediaId)
    : path.join(world.system.home, 'profiles', bot, 'media', mediaId);

it('an address of the own network is refused, before the message is looked at, and not repeated', async () => {
  const cdnUrl = 'https://169.254.169.254/latest/meta-data';
  const denied = await refusal([{ fileName: 'a', cdnUrl }], { message: 'x'.repeat(32_001) });
  expect(denied.code).toBe('REMOTE_ATTACHMENT_URL_DENIED');
  expect(denied.message).not.toContain('169.254');
});

describe.each<[Way, string]>([
  ['straight', 'default'],
  ['rpc', 'writer'],
])('%s to %s', (way, bot) => {
  it('G274: the model is given the files, the history names them, and media.read has the picture', async () => {
    const chat = converse(way, bot, 'desktop');
    const png = await picture(32, 24);
    const content = png.toString('base64');
    world.models.script(bot, ['I see', 'Still there']);
    const attachments = [
      { fileName: 'photo.png', mimeType: 'image/png', content: `data:image/png;base64,${content}` },
      { ...hello, thumbnail: 'dGh1bWI=', s3Key: 'private/key' },
    ];
    const { runId } = await chat.send('', { attachments });
    expect(textOf(await chat.terminal(runId))).toBe('I see');
    const call = world.models.callsOf(bot).at(-1);
    expect(JSON.stringify(call?.body)).toContain(content);
    expect(call?.messages.at(-1)?.content).toBe(
      '[Attachments: photo.png, draft.txt]\n\n[File draft.txt]\nHello\n[End of file draft.txt]',
    );
    const [asked] = (await chat.history()).messages;
    const [image, text] = asked?.attachments ?? [];
    expect(asked?.content).toEqual([{ type: 'text', text: '' }]);
    expect(image).toEqual({
      fileName: 'photo.png',
      mimeType: 'image/png',
      kind: 'image',
      size: png.length,
      width: 32,
      height: 24,
      mediaId: expect.stringMatching(/^chat-[0-9a-f]{32}-0\.png$/),
    });
    expect(text).toEqual({
      fileName: 'draft.txt',
      mimeType: 'text/plain',
      kind: 'file',
      size: 5,
      mediaId: expect.stringMatching(/^chat-[0-9a-f]{32}-1\.txt$/),
    });
    const stored = mediaOf(bot, image?.mediaId);
    expect(readFileSync(stored).equals(png)).toBe(true);
    expect(statSync(stored).mode & 0o777).toBe(0o600);
    const read = { mediaId: image?.mediaId, length: 1_048_576 };
    const part =
      way === 'straight'
        ? await world.client.call('media.read', read)
        : await world.client.rpc(bot, 'media.read', read);
    expect(part).toMatchObject({
      size: png.length,
      mimeType: 'image/png',
      eof: true,
      data: content,
    });

    const next = await chat.send('And now?');
    await chat.terminal(next.runId);
    expect(JSON.stringify(world.models.callsOf(bot).at(-1)?.body)).toContain(content);
  });
});

it('bytes are in the bot’s media alone: in no database, in nothing that Redis keeps', async () => {
  const canary = Buffer.from(`canary ${randomUUID()}`);
  const chat = converse();
  const content = canary.toString('base64');
  // No text, so that no model is given it.
  const attachments = [{ fileName: 'a.zip', mimeType: 'application/zip', content }];
  const { runId } = await chat.send('Look', { attachments });
  await chat.terminal(runId);
  const redis = new Redis(world.system.redis.url);
  const dump = await everythingIn(redis);
  redis.disconnect();
  const holders = readdirSync(world.system.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((name) => [canary, content].some((text) => readFileSync(name).includes(text)));
  expect(holders).toEqual([expect.stringMatching(/profiles\/writer\/media\/chat-[^/]+\.zip$/)]);
  expect(dump.filter((value) => value.includes(content))).toEqual([]);
});

it('the same key with the same files is answered from the receipt, with others it is a conflict', async () => {
  const chat = converse();
  const idempotencyKey = `key-${randomUUID()}`;
  const attachments = [hello];
  await chat.send('Look', { idempotencyKey, attachments });
  await chat.terminal(idempotencyKey);
  const replay = await chat.send('Look', { idempotencyKey, attachments });
  expect(replay).toEqual({ runId: idempotencyKey, status: 'completed', replayed: true });
  for (const other of [[{ ...hello, content: 'SGVsbGE=' }], [{ ...hello, fileName: 'b.txt' }], []])
    await expect(chat.send('Look', { idempotencyKey, attachments: other })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  expect(
    (await chat.history()).messages.flatMap(({ attachments: files }) => files ?? []),
  ).toHaveLength(1);
});

it('G276: an address is taken; a file that cannot be had fails no turn', async () => {
  const chat = converse();
  const cdnUrl = 'https://cdn.example.com/media/draft.png?signature=opaque';
  const { runId, status } = await chat.send('Look', {
    attachments: [{ fileName: 'draft.png', cdnUrl }],
  });
  expect(status).toBe('accepted');
  await chat.terminal(runId);
  const call = world.models.callsOf('writer').at(-1);
  expect(call?.messages.at(-1)?.content).toContain(
    '[File draft.png (image/png) is attached, but it could not be read.]',
  );
  const [asked] = (await chat.history()).messages;
  expect(asked?.attachments).toMatchObject([{ fileName: 'draft.png', cdnUrl }]);
});

it.each([1.9 * MEGABYTE, 5 * MEGABYTE, 15 * MEGABYTE, 26 * MEGABYTE])(
  'a file of %i bytes goes through',
  async (size) => {
    const chat = converse();
    const { runId } = await chat.send('Large', { attachments: [zeros(size)] });
    await chat.terminal(runId);
    const [asked] = (await chat.history()).messages;
    expect(asked?.attachments).toMatchObject([{ size, kind: 'file' }]);
    expect(statSync(mediaOf('writer', asked?.attachments?.[0]?.mediaId)).size).toBe(size);
  },
);

it('26 MiB in one file are too large, and so are params over 40 MiB; the socket stays usable', async () => {
  const before = readdirSync(mediaOf('writer'));
  expect((await refusal([zeros(26 * MEBIBYTE)])).code).toBe('REQUEST_TOO_LARGE');
  expect((await refusal(Array(3).fill(zeros(10 * MEBIBYTE)))).code).toBe('REQUEST_TOO_LARGE');
  expect(await world.client.call('health')).toEqual({ ok: true });
  expect(readdirSync(mediaOf('writer'))).toEqual(before);
}, 30_000);

it('two files that fill a frame together go through', async () => {
  const chat = converse();
  const size = 15 * MEGABYTE;
  const { runId } = await chat.send('Two', { attachments: [zeros(size), zeros(size)] });
  await chat.terminal(runId);
  const [asked] = (await chat.history()).messages;
  expect(asked?.attachments).toMatchObject([{ size }, { size }]);
}, 30_000);
