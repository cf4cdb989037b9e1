import { z } from 'zod';
import { absentable } from './parse';
import { characters, hasControl } from './text';

/** Files in a `media` folder: how they are named, and what kind they are (wire.md §1, groups.md §4). */

/** What is written for groups begins so; every other file in the folder is the bot's own. */
export const GROUP_MEDIA_PREFIX = 'group-';

/** By extension; of several that share a type the first is the usual one. */
const typeOfExtension: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  heic: 'image/heic',
  heif: 'image/heif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  tif: 'image/tiff',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  avi: 'video/x-msvideo',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  pdf: 'application/pdf',
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  json: 'application/json',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
  gz: 'application/gzip',
  doc: 'application/msword',
  xls: 'application/vnd.ms-excel',
  ppt: 'application/vnd.ms-powerpoint',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
};

/** What a bot's chats brought begins so (bots.md §3.3). */
export const CHAT_MEDIA_PREFIX = 'chat-';

/** Whether this can name a file of a media folder: one name, no way out of the folder, nothing hidden. */
export function isMediaId(value: unknown): value is string {
  return isMediaName(value) && new TextEncoder().encode(value).length <= 255;
}

/** The rule of bots.md §3.3, which counts characters; a longer name in bytes is one that no file has. */
function isMediaName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^[^./\\][^/\\]*$/u.test(value) &&
    !value.includes('..') &&
    value.isWellFormed() &&
    !hasControl(value) &&
    characters(value) <= 255
  );
}

export const mediaIdSchema = z.string().refine(isMediaName, 'must name a file');

/** The most bytes that one answer of `media.read` holds. */
const LONGEST_PART = 1_048_576;

export const mediaReadParamsSchema = z.object({
  mediaId: mediaIdSchema,
  offset: absentable(z.number().int().min(0)),
  length: absentable(z.number().int().min(0).max(LONGEST_PART)),
});

/** A part of a file; without `data` what was asked for was only what the file is. */
export const mediaReadResultSchema = z.object({
  mediaId: z.string(),
  /** Of the whole file, in bytes. */
  size: z.number().int(),
  mimeType: z.string(),
  offset: z.number().int(),
  /** Whether nothing of the file comes after this part. */
  eof: z.boolean(),
  /** Base64. */
  data: z.string().optional(),
});
export type MediaReadResult = z.infer<typeof mediaReadResultSchema>;

/** The type that a file's name says; `application/octet-stream` for one that says nothing. */
export function mimeTypeOfName(fileName: string): string {
  const extension = fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase();
  const known = fileName.includes('.') && Object.hasOwn(typeOfExtension, extension);
  return (known ? typeOfExtension[extension] : undefined) ?? 'application/octet-stream';
}

/** The type itself, lower-cased and without parameters. */
export function bareMimeType(mimeType: string): string {
  return (mimeType.split(';')[0] ?? '').trim().toLowerCase();
}

/** The type to go by: what the sender says, else, when that says nothing, what the name does. */
export function contentType({
  fileName,
  mimeType,
}: {
  fileName: string;
  mimeType: string;
}): string {
  const bare = bareMimeType(mimeType);
  return bare === '' || bare === 'application/octet-stream' ? mimeTypeOfName(fileName) : bare;
}

export const mediaKindSchema = z.enum(['image', 'video', 'audio', 'file']);
export type MediaKind = z.infer<typeof mediaKindSchema>;

export function mediaKind(mimeType: string): MediaKind {
  const family = bareMimeType(mimeType).split('/')[0];
  return family === 'image' || family === 'video' || family === 'audio' ? family : 'file';
}

/** How a stored file's name ends: as the client's did, if that is harmless, else by its type, else not at all. */
export function mediaSuffix(fileName: string, mimeType: string): string {
  const own = /\.[a-z0-9]{1,10}$/.exec(fileName.toLowerCase());
  if (own) return own[0];
  const wanted = bareMimeType(mimeType);
  const guessed = Object.entries(typeOfExtension).find(([, type]) => type === wanted);
  return guessed ? `.${guessed[0]}` : '';
}
