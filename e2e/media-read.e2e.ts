import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });

const media = (bot: string) =>
  bot === 'default'
    ? path.join(world.system.home, 'media')
    : path.join(world.system.home, 'profiles', bot, 'media');

/** The two ways to a bot's media. */
const ways = [
  ['straight', 'default'],
  ['rpc', 'default'],
  ['rpc', 'writer'],
] as const;
type Way = (typeof ways)[number][0];

const read = (way: Way, bot: string, params: Record<string, unknown>) =>
  way === 'straight'
    ? world.client.call('media.read', params)
    : world.client.rpc(bot, 'media.read', params);
const refusal = (params: Record<string, unknown>) =>
  world.client.refusal('profiles.rpc', { name: 'writer', method: 'media.read', params });

beforeAll(() => {
  for (const bot of ['default', 'writer']) {
    mkdirSync(media(bot), { recursive: true });
    writeFileSync(path.join(media(bot), 'generated.png'), 'abcdefgh');
  }
  writeFileSync(path.join(media('default'), 'own.png'), 'of default');
  writeFileSync(path.join(media('writer'), 'notes.txt'), 'notes');
  symlinkSync(path.join(world.system.home, 'config.json'), path.join(media('writer'), 'out.png'));
});

it.each(ways)('G244: %s to %s: a part of a file', async (way, bot) => {
  expect(await read(way, bot, { mediaId: 'generated.png', offset: 2, length: 3 })).toEqual({
    mediaId: 'generated.png',
    size: 8,
    mimeType: 'image/png',
    offset: 2,
    eof: false,
    data: 'Y2Rl',
  });
  const probe = await read(way, bot, { mediaId: 'generated.png' });
  expect(probe).not.toHaveProperty('data');
  expect(probe).toMatchObject({ size: 8, offset: 0, eof: false });
});

it('G280: what is not known is ignored, and null is as if not given', async () => {
  const params = { mediaId: 'generated.png', offset: 4, length: 1_048_576, ignored: true };
  expect(await read('rpc', 'writer', params)).toMatchObject({
    offset: 4,
    eof: true,
    data: 'ZWZnaA==',
  });
  const nothing = { mediaId: 'generated.png', offset: null, length: null };
  expect(await read('rpc', 'writer', nothing)).not.toHaveProperty('data');
});

it('G280: a bad id or part is INVALID_PARAMS, before anything is looked at', async () => {
  const ids = [
    '../secret',
    '.hidden',
    'folder/file.png',
    'folder\\file.png',
    'bad\n.png',
    'bad\0.png',
    'bad\u0085.png',
    'a..png',
    'x'.repeat(256),
    'lone\ud800.png',
    '',
    7,
    null,
  ];
  for (const mediaId of ids)
    expect([mediaId, (await refusal({ mediaId })).code]).toEqual([mediaId, 'INVALID_PARAMS']);
  const parts = [
    { length: 1_048_577 },
    { length: -1 },
    { length: 1.5 },
    { length: true },
    { length: '3' },
    { offset: -1 },
    { offset: false },
    { offset: 2 ** 53 },
  ];
  for (const part of parts)
    expect([part, (await refusal({ mediaId: 'generated.png', ...part })).code]).toEqual([
      part,
      'INVALID_PARAMS',
    ]);
});

it.each([
  ['missing.png', 'NOT_FOUND'],
  ['own.png', 'NOT_FOUND'],
  ['generated.png ', 'NOT_FOUND'],
  ['\u200fgenerated.png', 'NOT_FOUND'],
  ['包'.repeat(255), 'NOT_FOUND'],
  ['out.png', 'FORBIDDEN'],
  ['notes.txt', 'UNSUPPORTED_MEDIA_TYPE'],
])('%j is %s', async (mediaId, code) => {
  const error = await refusal({ mediaId });
  expect(error).toMatchObject({ code, retryable: false });
  expect(error.message).not.toContain(world.system.home);
});

it('a part of 1 MiB comes whole', async () => {
  const bytes = Buffer.alloc(1_500_000, 'flowly');
  writeFileSync(path.join(media('writer'), 'large.mp4'), bytes);
  const first = await read('rpc', 'writer', { mediaId: 'large.mp4', length: 1_048_576 });
  const rest = await read('rpc', 'writer', {
    mediaId: 'large.mp4',
    offset: 1_048_576,
    length: 1_048_576,
  });
  expect([first.eof, rest.eof]).toEqual([false, true]);
  const parts = [first, rest].map(({ data = '' }) => Buffer.from(String(data), 'base64'));
  expect(Buffer.concat(parts).equals(bytes)).toBe(true);
});
