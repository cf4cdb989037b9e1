import type SharpModule from 'sharp';

/** What is known of an image that could be read; sizes as it is shown, in pixels. */
export interface ImageFacts {
  width: number;
  height: number;
}

/** A file of a few KiB can claim to be of any size: past this nothing of it is unpacked. */
const MAX_PIXELS = 100_000_000;
const MAX_SECONDS = 10;
const THUMBNAIL_BYTES = 48 * 1024;
/** Longest side and quality, tried in order until the thumbnail is small enough. */
const TRIES = [
  [512, 80],
  [512, 60],
  [512, 40],
  [384, 40],
  [256, 40],
] as const;

/** Formats of photographs and screens; no other parser of the library sees what a client sent. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map(
  (name) => `VipsForeignLoad${name}Buffer`,
);

type Sharp = typeof SharpModule;
let loaded: Promise<Sharp> | undefined;
let last: Promise<unknown> = Promise.resolve();

/** The size of an image; null for bytes that are none, or none of a known kind. */
export function imageSize(bytes: Buffer): Promise<ImageFacts | null> {
  return unlessBroken(async (sharp) => {
    const { autoOrient } = await open(sharp, bytes).metadata();
    return { width: autoOrient.width, height: autoOrient.height };
  });
}

/** A JPEG of at most 512 px a side and about 48 KiB, turned as its camera was held; null as for {@link imageSize}. */
export function thumbnailOf(bytes: Buffer): Promise<Buffer | null> {
  return unlessBroken((sharp) => shrink(sharp, bytes));
}

/** One image after the other: one that is unpacked may take hundreds of megabytes. */
async function unlessBroken<T>(work: (sharp: Sharp) => Promise<T>): Promise<T | null> {
  const sharp = await (loaded ??= load());
  // Whatever is wrong with the bytes: they are no image we know.
  const result = last.then(() => work(sharp)).catch(() => null);
  last = result;
  return result;
}

async function shrink(sharp: Sharp, bytes: Buffer): Promise<Buffer> {
  let made = bytes;
  for (const [side, quality] of TRIES) {
    made = await open(sharp, made)
      .rotate()
      .resize(side, side, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality })
      .timeout({ seconds: MAX_SECONDS })
      .toBuffer();
    if (made.length <= THUMBNAIL_BYTES) break;
  }
  return made;
}

function open(sharp: Sharp, bytes: Buffer) {
  return sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true });
}

/** Loaded when the first image comes: most processes never see one, and it is large. */
async function load(): Promise<Sharp> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  return sharp;
}
