import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { imageSize, thumbnailOf } from './image';

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0 } } });
const thumbnail = async (bytes: Buffer) => {
  const made = await thumbnailOf(bytes);
  return made && sharp(made).metadata();
};

it.each(['png', 'jpeg', 'webp', 'gif', 'avif'] as const)('knows %s', async (format) => {
  const bytes = await plain(600, 300).toFormat(format).toBuffer();
  expect(await imageSize(bytes)).toEqual({ width: 600, height: 300 });
  expect(await thumbnail(bytes)).toMatchObject({ format: 'jpeg', width: 512, height: 256 });
});

it('turns an image as its camera was held, and does not enlarge a small one', async () => {
  const bytes = await plain(40, 20).jpeg().withMetadata({ orientation: 6 }).toBuffer();
  expect(await imageSize(bytes)).toEqual({ width: 20, height: 40 });
  const made = await thumbnail(bytes);
  expect(made).toMatchObject({ width: 20, height: 40 });
  expect(made?.orientation ?? 1).toBe(1);
});

it('what is transparent becomes white', async () => {
  const made = await thumbnailOf(await plain(8, 8).png().toBuffer());
  const { channels } = await sharp(made ?? '').stats();
  expect(channels.every(({ min }) => min > 250)).toBe(true);
});

it('keeps a thumbnail to about 48 KiB, whatever the image', async () => {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 90 };
  const create = { width: 1_000, height: 1_000, channels: 3 as const, background: '#000', noise };
  const bytes = await sharp({ create }).png().toBuffer();
  const made = await thumbnailOf(bytes);
  expect(made?.length).toBeLessThanOrEqual(48 * 1024);
});

it.each([
  ['text', Buffer.from('hello')],
  ['nothing', Buffer.alloc(0)],
  [
    'a picture made of orders',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
  ],
  ['a broken file', Buffer.from('89504e470d0a1a0a', 'hex')],
])('%s is no image', async (_, bytes) => {
  expect(await imageSize(bytes)).toBeNull();
  expect(await thumbnailOf(bytes)).toBeNull();
});

it('does not unpack a small file that claims to be huge', async () => {
  const bomb = hugePng(30_000, 30_000);
  expect(bomb.length).toBeLessThan(4_000_000);
  expect(await imageSize(bomb)).toBeNull();
  expect(await thumbnailOf(bomb)).toBeNull();
});

/** A black PNG of one bit a pixel. */
function hugePng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const rows = deflateSync(Buffer.alloc((1 + width / 8) * height), { level: 1 });
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const parts = [chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...parts]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc(body), body.length + 4);
  return whole;
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}
