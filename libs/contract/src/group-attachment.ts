import { z } from 'zod';
import { ContractError } from './errors';
import { byRule, invalid, isObject } from './parse';
import { characters, hasControl, wellFormed } from './text';

/** Files of `profiles.rooms.send` (groups.md §4); they differ from those of `chat.send`. */

const MAX_FILES = 10;
const MAX_ENCODED = 34_952_536;
const MAX_DECODED = 26_214_400;
const MAX_THUMBNAIL = 262_144;
const NOT_BASE64 = /[^A-Za-z0-9+/]/;

export const groupFileSchema = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  /** Base64 without prefix. */
  content: z.string().optional(),
  cdnUrl: z.string().optional(),
  thumbnail: z.string().optional(),
});
export type GroupFile = z.infer<typeof groupFileSchema>;

export const groupFilesSchema = byRule((value): GroupFile[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_FILES)
    invalid('A message takes a list of up to 10 files.');
  const files = value.map(groupFile);
  const decoded = files.reduce((sum, file) => sum + decodedLength(file.content ?? ''), 0);
  if (decoded > MAX_DECODED) invalid('The files of a message are larger than 25 MiB together.');
  return files;
});

function groupFile(value: unknown): GroupFile {
  if (!isObject(value)) invalid('The file is invalid.');
  const fileName = label(value['fileName'], 255);
  const mimeType = label(value['mimeType'], 128);
  const source = sourceOf(value);
  const thumbnail = thumbnailOf(value['thumbnail']);
  return { fileName, mimeType, ...source, ...(thumbnail !== null && { thumbnail }) };
}

function sourceOf({ content, cdnUrl }: Record<string, unknown>) {
  if (typeof content === 'string') return { content: inlineContent(content) };
  if (typeof cdnUrl === 'string') return { cdnUrl: plainUrl(cdnUrl) };
  return invalid('A file has either content or cdnUrl.');
}

function label(value: unknown, limit: number): string {
  if (typeof value !== 'string' || value === '' || hasControl(value) || characters(value) > limit) {
    invalid('The file has no proper name or type.');
  }
  return wellFormed(value);
}

function inlineContent(content: string): string {
  const text = content.startsWith('data:') ? content.replace(/^data:[^,]*;base64,/, '') : content;
  if (text.length > MAX_ENCODED) {
    throw new ContractError('ROOM_ATTACHMENT_TOO_LARGE', 'The file is larger than 25 MiB.');
  }
  if (!isBase64(text)) invalid('The file is not base64.');
  return text;
}

function thumbnailOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  if (!isBase64(value) || decodedLength(value) > MAX_THUMBNAIL)
    invalid('The thumbnail is invalid.');
  return value;
}

/** A URL parser mends too much: `https:///a` would get a host. So the text itself must be right. */
const HTTPS_HOST = /^https:\/\/[^\s/\\?#@]+(?:[/?#][^\s]*)?$/i;

function plainUrl(value: string): string {
  if (value.length > 4096 || !HTTPS_HOST.test(value) || hasControl(value) || !URL.canParse(value)) {
    invalid('cdnUrl must be an https address.');
  }
  return wellFormed(value);
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && !NOT_BASE64.test(text.slice(0, text.length - padding(text)));
}

function decodedLength(text: string): number {
  return (text.length / 4) * 3 - padding(text);
}

function padding(text: string): number {
  return text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
}
