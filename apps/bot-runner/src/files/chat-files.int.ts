import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileFetcher } from '@flowly/agent';
import { chatHistory, findRun } from '@flowly/store';
import { call, RunnerWorld, until } from '../runner.harness';
import type { Runner } from '../runner';
import { sweepChatFiles } from './sweep';

let world: RunnerWorld;
let runner: Runner;
beforeEach(async () => {
  world = await RunnerWorld.start();
  runner = await world.runner();
});
afterEach(() => world.stop());

const BYTES = 'bytes that no other text has';
const content = Buffer.from(BYTES).toString('base64');
const file = { fileName: 'a.txt', mimeType: 'text/plain', content };
const SESSION = 'desktop:c1';

const at = (name = '') => join(world.home, 'media', name);
const chatFiles = () => readdirSync(at()).filter((name) => name.startsWith('chat-'));
const open = () => runner.openBots.open('default');
const send = (
  idempotencyKey: string,
  { attachments = [file] as unknown[], id = randomUUID(), message = 'Hello' } = {},
) => {
  const params = { sessionKey: SESSION, message, idempotencyKey, attachments };
  return call(runner, 'chat.send', params, { id, fingerprint: `of ${message}` });
};
const ended = (runId: string) =>
  until(async () => {
    const { database } = await open();
    return findRun(database, runId)?.state === 'completed';
  });

it('a file is on the disk under a name of the command’s, in no database and not in the receipt', async () => {
  await send('r1');
  await ended('r1');
  const [mediaId = ''] = chatFiles();
  expect(mediaId).toMatch(/^chat-[0-9a-f]{32}-0\.txt$/);
  expect(readFileSync(at(mediaId), 'utf8')).toBe(BYTES);
  const { database } = await open();
  const { messages } = chatHistory(database, { sessionKey: SESSION });
  const { content: _, ...named } = file;
  expect(messages[0]?.attachments).toEqual([
    { ...named, kind: 'file', mediaId, size: BYTES.length },
  ]);
  database.pragma('wal_checkpoint(TRUNCATE)');
  const stored = readFileSync(database.file);
  for (const text of [BYTES, content]) expect(stored.includes(text)).toBe(false);
});

it('a replay and a conflict leave no second file, and the first stays', async () => {
  await send('r1');
  await ended('r1');
  const before = chatFiles();
  await send('r1');
  await expect(send('r1', { message: 'another' })).rejects.toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
  expect(chatFiles()).toEqual(before);
  await until(() => world.replies.length === 2);
  const told = (await world.answers()).map(({ outcome }) => outcome);
  expect(told).toMatchObject([{ result: { status: 'accepted' } }, { result: { replayed: true } }]);
});

it('two that send the same key at once: one has the run and its files, the other leaves none', async () => {
  const sends = [send('r1'), send('r1'), send('r1', { message: 'another' })];
  const outcomes = await Promise.allSettled(sends);
  expect(outcomes.map(({ status }) => status)).toContain('rejected');
  await ended('r1');
  const { database } = await open();
  const files = findRun(database, 'r1')?.files?.map(({ mediaId }) => mediaId);
  expect(chatFiles()).toEqual(files);
});

it('the same command delivered twice at once has its files once', async () => {
  const id = randomUUID();
  await Promise.all([send('r1', { id }), send('r1', { id })]);
  await ended('r1');
  expect(chatFiles()).toHaveLength(1);
  await send('r1', { id });
  expect(chatFiles()).toHaveLength(1);
});

it('a commit that fails takes the files with it', async () => {
  const { database } = await open();
  database.exec(
    `CREATE TEMP TRIGGER no BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  await expect(send('r1')).rejects.toThrow();
  expect(chatFiles()).toEqual([]);
  database.exec('DROP TRIGGER no');
  await send('r1');
  expect(chatFiles()).toHaveLength(1);
});

it('a file that cannot be written refuses the send, and nothing of it is left', async () => {
  rmSync(at(), { recursive: true });
  writeFileSync(at(), 'no folder');
  await expect(send('r1')).rejects.toMatchObject({
    code: 'PROFILE_OPERATION_FAILED',
    retryable: true,
  });
  rmSync(at());
  mkdirSync(at());
  expect(findRun((await open()).database, 'r1')).toBeNull();
});

it('a file that is elsewhere is only named by its address', async () => {
  const cdnUrl = 'https://cdn.example.com/draft.png';
  runner.settings.fetcher = new FileFetcher(runner.limits, {
    addressesOf: async () => ['10.0.0.1'],
    dial: () => {
      throw new Error('This address must not be dialled.');
    },
  });
  await send('r1', { attachments: [{ fileName: 'draft.png', cdnUrl }] });
  const { database } = await open();
  expect(findRun(database, 'r1')?.files).toEqual([
    { fileName: 'draft.png', mimeType: 'application/octet-stream', kind: 'image', cdnUrl },
  ]);
  expect(chatFiles()).toEqual([]);
  await ended('r1');
});

it('a sweep takes what is older than an hour and in no message, and nothing else', async () => {
  await send('r1');
  await ended('r1');
  const [kept = ''] = chatFiles();
  for (const name of ['chat-stray.png', 'chat-stray.png.1.new', 'chat-young.png', 'mine.png'])
    writeFileSync(at(name), 'x');
  const then = new Date(Date.now() - 2 * 3_600_000);
  for (const name of [kept, 'chat-stray.png', 'chat-stray.png.1.new', 'mine.png'])
    utimesSync(at(name), then, then);
  await sweepChatFiles(await open());
  expect(readdirSync(at()).sort()).toEqual([kept, 'chat-young.png', 'mine.png'].sort());
});
