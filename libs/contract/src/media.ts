import type { GroupAttachment } from './group';
import { hasControl } from './text';

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

/** Whether this can name a file of a media folder: one name, no way out of the folder, nothing hidden. */
export function isMediaId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^[^./\\][^/\\]*$/u.test(value) &&
    value.isWellFormed() &&
    !hasControl(value) &&
    new TextEncoder().encode(value).length <= 255
  );
}

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

export function mediaKind(mimeType: string): GroupAttachment['kind'] {
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
