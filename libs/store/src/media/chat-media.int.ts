import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { ChatMedia } from './chat-media';
import { readMediaPart } from './media-part';

const home = mkdtempSync(join(tmpdir(), 'chat-media-'));
const folder = join(home, 'media');
const media = new ChatMedia(folder);
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => rmSync(home, { recursive: true }));

const TEXT = { fileName: 'notes.txt', mimeType: 'text/plain' };
const names = () => readdirSync(folder).sort();
async function* pieces(...given: (string | Error)[]) {
  for (const piece of given) {
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

it('a file is named for what it came with, closed to others, and described', async () => {
  const file = await media.add('command-1', 2, TEXT, Buffer.from('words'));
  const mediaId = expect.stringMatching(/^chat-[0-9a-f]{32}-2\.txt$/);
  expect(file).toEqual({ ...TEXT, kind: 'file', mediaId, size: 5 });
  const path = join(folder, file.mediaId);
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['words', 0o600]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect((await media.read(file.mediaId, 5))?.toString()).toBe('words');
  expect(await media.read(file.mediaId, 4)).toBeNull();
});

it('the same source and place give the same file, which is written once', async () => {
  const first = await media.add('command-1', 0, TEXT, Buffer.from('one'));
  const again = await media.add('command-1', 0, TEXT, Buffer.from('another'));
  expect(again).toEqual(first);
  const others = [
    await media.add('command-1', 1, TEXT, Buffer.from('one')),
    await media.add('command-2', 0, TEXT, Buffer.from('one')),
  ];
  expect(new Set([first, ...others].map(({ mediaId }) => mediaId)).size).toBe(3);
});

it('an image has its size in pixels, also one whose type says nothing', async () => {
  const png = await sharp({ create: { width: 6, height: 4, channels: 3, background: '#204060' } })
    .png()
    .toBuffer();
  const named = { fileName: 'a.png', mimeType: 'application/octet-stream' };
  expect(await media.add('c', 0, named, png)).toMatchObject({ kind: 'image', width: 6, height: 4 });
  const broken = await media.add('c', 1, { ...named, mimeType: 'image/png' }, Buffer.from('x'));
  expect(broken).not.toHaveProperty('width');
});

it.each([
  ['shot.tmp', 'image/png', 'image/png'],
  ['clip', 'video/mp4', 'video/mp4'],
  ['a.jpg', 'image/png', 'image/jpeg'],
  ['A.PNG', 'application/octet-stream', 'image/png'],
])('%s, sent as %s, is read as %s', async (fileName, mimeType, readAs) => {
  const { mediaId } = await media.add('c', 0, { fileName, mimeType }, Buffer.from('x'));
  const part = { mediaId, offset: 0, length: 0 };
  expect(await readMediaPart(folder, part, { mediaBytes: 9 })).toMatchObject({ mimeType: readAs });
});

it('a document that is called a picture is none to whoever reads it', async () => {
  const named = { fileName: 'a.png', mimeType: 'application/pdf' };
  expect((await media.add('c', 0, named, Buffer.from('x'))).mediaId).toMatch(/-0\.pdf$/);
});

it('comes in pieces, or not at all', async () => {
  const file = await media.add('c', 0, TEXT, pieces('one, ', 'two'));
  expect(file.size).toBe(8);
  const broken = media.add('c', 1, TEXT, pieces('one', new Error('the network has gone')));
  await expect(broken).rejects.toThrow('the network has gone');
  expect(names()).toEqual([file.mediaId]);
});

it('removes and lists files of chats alone', async () => {
  const { mediaId } = await media.add('c', 0, TEXT, Buffer.from('x'));
  const others = ['generated.png', 'group-1.png'];
  for (const name of others) writeFileSync(join(folder, name), 'x');
  const then = new Date(Date.now() - 60_000);
  for (const name of names()) utimesSync(join(folder, name), then, then);
  expect(await media.writtenBefore(Date.now() - 30_000)).toEqual([mediaId]);
  expect(await media.writtenBefore(Date.now() - 90_000)).toEqual([]);
  expect(await media.read('generated.png', 9)).toBeNull();
  media.removeFiles([...others, mediaId, 'chat-gone', 'chat-../../x', '../media/generated.png']);
  expect(names()).toEqual(others);
  expect(media.has(mediaId)).toBe(false);
});

it('a bot without a folder has no files', async () => {
  expect(await media.writtenBefore(Date.now())).toEqual([]);
  expect(existsSync(folder)).toBe(false);
});
