import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { GroupMedia } from './group-media';
import { readMediaFile } from './media-file';

const GROUP = '0b54c3b4-2f0b-4b40-9a35-5f3a0d9a2f11';
let home: string;
let media: GroupMedia;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flowly-media-'));
  media = new GroupMedia(home);
});
afterEach(() => rmSync(home, { recursive: true }));

const at = (name: string) => join(home, 'media', name);
const names = () => readdirSync(join(home, 'media')).sort();
const textFile = (text: string) => ({
  fileName: 'Brief.TXT',
  mimeType: 'text/plain',
  bytes: Buffer.from(text),
});
const add = (source: string, text = 'hello') =>
  media.add(GROUP, [source], textFile(text), { thumbnail: true });

it('writes a file that only its owner reads, named for its group', async () => {
  const attachment = await add('a');
  expect(attachment).toEqual({
    fileName: 'Brief.TXT',
    mimeType: 'text/plain',
    kind: 'file',
    status: 'ready',
    mediaId: expect.stringMatching(/^group-0b54c3b4-[0-9a-f]{32}\.txt$/),
    size: 5,
  });
  expect(names()).toEqual([attachment.mediaId]);
  expect(statSync(at(attachment.mediaId)).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'media')).mode & 0o777).toBe(0o700);
  expect(media.has(attachment.mediaId)).toBe(true);
  expect(await media.read(attachment.mediaId, 5)).toEqual(Buffer.from('hello'));
  expect(await media.read(attachment.mediaId, 4)).toBeNull();
});

it('the same source makes the same file, and what is there stays as it is', async () => {
  const first = await add('a', 'first');
  const again = await add('a', 'changed meanwhile');
  expect(again).toEqual(first);
  expect(readFileSync(at(first.mediaId), 'utf8')).toBe('first');
  expect((await add('b')).mediaId).not.toBe(first.mediaId);
  await Promise.all(Array.from({ length: 8 }, () => add('c')));
  expect(names()).toHaveLength(3);
});

it('an image has a size and a thumbnail', async () => {
  const create = { width: 90, height: 60, channels: 3 as const, background: '#456' };
  const bytes = await sharp({ create }).png().toBuffer();
  const file = { fileName: 'photo', mimeType: 'image/png', bytes };
  const attachment = await media.add(GROUP, ['p'], file, { thumbnail: true });
  expect(attachment).toMatchObject({ kind: 'image', width: 90, height: 60 });
  expect(attachment.mediaId).toMatch(/\.png$/);
  const made = Buffer.from(attachment.thumbnail ?? '', 'base64');
  expect((await sharp(made).metadata()).format).toBe('jpeg');
  const bare = await media.add(GROUP, ['p'], file, { thumbnail: false });
  expect(bare).not.toHaveProperty('thumbnail');
});

it('an image that is none is kept without looks', async () => {
  const file = { fileName: 'a.png', mimeType: 'image/png', bytes: Buffer.from('no image') };
  const attachment = await media.add(GROUP, ['x'], file, { thumbnail: true });
  expect(attachment).toEqual({
    fileName: 'a.png',
    mimeType: 'image/png',
    kind: 'image',
    status: 'ready',
    mediaId: attachment.mediaId,
    size: 8,
  });
});

it.each(['../../escape.txt', '/etc/passwd', 'a\\..\\b.txt', '.hidden', 'x.txt/../../y', '..'])(
  'no name leaves the folder: %j',
  async (fileName) => {
    const file = { fileName, mimeType: 'x/unknown', bytes: Buffer.from('x') };
    const { mediaId } = await media.add(GROUP, [fileName], file, { thumbnail: true });
    expect(mediaId).toMatch(/^group-0b54c3b4-[0-9a-f]{32}(\.[a-z0-9]{1,10})?$/);
    expect([names(), readdirSync(home)]).toEqual([[mediaId], ['media']]);
  },
);

it('follows no link, reads no pipe, and nothing outside of the folder', async () => {
  mkdirSync(join(home, 'media'));
  writeFileSync(join(home, 'secret'), 'secret');
  symlinkSync(join(home, 'secret'), at('group-link'));
  symlinkSync(join(home, 'secret'), at('link.png'));
  mkdirSync(at('group-folder'));
  execFileSync('mkfifo', [at('group-pipe')]);
  for (const name of ['group-link', 'group-folder', 'group-pipe', 'group-missing', '../secret'])
    expect(await media.read(name, 100)).toBeNull();
  expect(await readMediaFile(join(home, 'media'), 'link.png', 100)).toBeNull();
  expect(await readMediaFile(join(home, 'media'), '../secret', 100)).toBeNull();
  expect(media.has('group-link')).toBe(false);
});

it('a link where a file is to be is not written through', async () => {
  const { mediaId } = await add('a');
  rmSync(at(mediaId));
  writeFileSync(join(home, 'outside'), 'untouched');
  symlinkSync(join(home, 'outside'), at(mediaId));
  await expect(add('a')).rejects.toThrow();
  expect(readFileSync(join(home, 'outside'), 'utf8')).toBe('untouched');
  expect(names()).toEqual([mediaId]);
});

it('reads and removes files of groups alone', async () => {
  const { mediaId } = await add('a');
  writeFileSync(at('generated.png'), 'x');
  expect(await media.read('generated.png', 100)).toBeNull();
  media.removeFiles(['generated.png', '../outside', 'group-missing', mediaId]);
  expect(names()).toEqual(['generated.png']);
});

it('one that cannot be removed costs the others nothing', async () => {
  const { mediaId } = await add('a');
  mkdirSync(at('group-folder'));
  media.removeFiles(['group-folder', mediaId]);
  expect(existsSync(at(mediaId))).toBe(false);
});

it('counts what groups take and knows what is old', async () => {
  expect(await media.usage()).toEqual({ byGroup: new Map(), total: 0 });
  const { mediaId } = await add('a');
  writeFileSync(at('group-0b54c3b4-b.png'), 'xy');
  writeFileSync(at('group-99999999-c.png'), 'abc');
  writeFileSync(at('generated.png'), 'not counted');
  symlinkSync(at('generated.png'), at('group-0b54c3b4-link'));
  const { byGroup, total } = await media.usage();
  expect(total).toBe(10);
  expect(Object.fromEntries(byGroup)).toEqual({ '0b54c3b4': 7, '99999999': 3 });

  const longAgo = new Date(Date.now() - 100_000);
  for (const name of [mediaId, 'generated.png']) utimesSync(at(name), longAgo, longAgo);
  expect(await media.writtenBefore(Date.now() - 50_000)).toEqual([mediaId]);
});

it('a folder that cannot be written is an error', async () => {
  writeFileSync(join(home, 'media'), 'no folder');
  await expect(add('a')).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
});
