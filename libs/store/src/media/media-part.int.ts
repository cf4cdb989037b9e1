import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultLimits } from '@flowly/contract';
import { readMediaPart } from './media-part';

const home = mkdtempSync(join(tmpdir(), 'media-part-'));
const folder = join(home, 'media');
const at = (name: string) => join(folder, name);
const read = (mediaId: string, offset = 0, length = 0) =>
  readMediaPart(folder, { mediaId, offset, length }, defaultLimits);
const refused = (mediaId: string, code: string) =>
  expect(read(mediaId)).rejects.toMatchObject({ code, retryable: false });

beforeAll(() => {
  mkdirSync(join(folder, 'folder.png'), { recursive: true });
  writeFileSync(at('generated.png'), 'abcdefgh');
  writeFileSync(at('notes.txt'), 'secret notes');
  writeFileSync(at('empty.mp3'), '');
  writeFileSync(at('huge.mp4'), '');
  truncateSync(at('huge.mp4'), 2 ** 31);
  writeFileSync(at('larger.mp4'), '');
  truncateSync(at('larger.mp4'), 2 ** 31 + 1);
  writeFileSync(join(home, 'config.png'), 'secret');
  mkdirSync(join(home, 'media-of-others'));
  writeFileSync(join(home, 'media-of-others', 'a.png'), 'secret');
  symlinkSync('generated.png', at('latest'));
  symlinkSync('notes.txt', at('disguise.png'));
  symlinkSync(join(home, 'config.png'), at('outside.png'));
  symlinkSync('../media-of-others/a.png', at('neighbour.png'));
  symlinkSync('nowhere.png', at('dangling.png'));
  symlinkSync('ring.png', at('ring.png'));
  execFileSync('mkfifo', [at('pipe.png')]);
});
afterAll(() => rmSync(home, { recursive: true }));

it('G244: a part of a file', async () => {
  expect(await read('generated.png', 2, 3)).toEqual({
    mediaId: 'generated.png',
    size: 8,
    mimeType: 'image/png',
    offset: 2,
    eof: false,
    data: 'Y2Rl',
  });
});

it.each([
  [0, 8, 'abcdefgh', true],
  [0, 9, 'abcdefgh', true],
  [5, 3, 'fgh', true],
  [7, 1, 'h', true],
  [6, 1, 'g', false],
  [8, 4, '', true],
  [99, 4, '', true],
])('from %i on %i bytes: %j, the end: %s', async (offset, length, text, eof) => {
  const part = await read('generated.png', offset, length);
  expect(part).toMatchObject({ offset, eof, size: 8 });
  expect(Buffer.from(part.data ?? '-', 'base64').toString()).toBe(text);
});

it('a length of 0 asks what the file is', async () => {
  const probe = { mediaId: 'generated.png', size: 8, mimeType: 'image/png', offset: 0, eof: false };
  expect(await read('generated.png')).toEqual(probe);
  expect(await read('generated.png', 8)).toEqual({ ...probe, offset: 8, eof: true });
  expect(await read('empty.mp3')).toMatchObject({ size: 0, eof: true });
});

it('a link counts as the file it leads to, inside of the folder', async () => {
  expect(await read('latest', 0, 2)).toMatchObject({
    mediaId: 'latest',
    mimeType: 'image/png',
    data: 'YWI=',
  });
  await refused('disguise.png', 'UNSUPPORTED_MEDIA_TYPE');
  await refused('dangling.png', 'NOT_FOUND');
});

it.each(['outside.png', 'neighbour.png', 'ring.png', 'folder.png', 'pipe.png'])(
  '%s is not read',
  async (mediaId) => {
    await refused(mediaId, 'FORBIDDEN');
  },
);

it('only images, videos and sounds of at most 2 GiB are read', async () => {
  await refused('notes.txt', 'UNSUPPORTED_MEDIA_TYPE');
  await refused('larger.mp4', 'MEDIA_TOO_LARGE');
  const last = await read('huge.mp4', 2 ** 31 - 1, 5);
  expect(last).toMatchObject({ size: 2 ** 31, eof: true, data: 'AA==' });
});

it.each([
  'missing.png',
  'generated.png ',
  'generated.png.',
  'ge\u0301ne\u0301rated.png',
  '\u200fgenerated.png',
  'GENERATED.PNG',
  '包'.repeat(255),
  'x'.repeat(255),
])('there is no %j', async (mediaId) => {
  await refused(mediaId, 'NOT_FOUND');
});

it('a bot without any media has none', async () => {
  const nothing = readMediaPart(
    join(home, 'none'),
    { mediaId: 'a.png', offset: 0, length: 0 },
    defaultLimits,
  );
  await expect(nothing).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
