import { z } from 'zod';
import { ContractError } from './errors';
import { byRule, invalid, isObject } from './parse';
import { isPublicUrl } from './public-address';
import { characters, hasControl, wellFormed } from './text';

const MAX_FILES = 10;
/** One character outside base64; a single linear pass, also over 35 million characters. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** A file of `chat.send`: exactly one of `content` (base64 without prefix) and `cdnUrl`. */
export const chatAttachmentSchema = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  content: z.string().optional(),
  cdnUrl: z.string().optional(),
});
export type ChatAttachment = z.infer<typeof chatAttachmentSchema>;

/** The attachments of `chat.send` (bots.md §3.3), each of at most `mostBytes` bytes; unknown keys are dropped. */
export function chatAttachmentsSchema(mostBytes: number) {
  return byRule((value): ChatAttachment[] => {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) invalid('attachments must be a list.');
    if (value.length > MAX_FILES) invalid('A message takes up to 10 files.');
    return value.map((each) => attachment(each, mostBytes));
  });
}

function attachment(value: unknown, mostBytes: number): ChatAttachment {
  if (!isObject(value)) invalid('The attachment is invalid.');
  if (value['filePath'] !== undefined && value['filePath'] !== null) {
    throw new ContractError(
      'REMOTE_FILE_PATH_DENIED',
      'A client cannot name a file of this machine.',
    );
  }
  const named = {
    fileName: label(value['fileName'], /[/\\]/),
    mimeType: label(value['mimeType'] ?? 'application/octet-stream', /[^\S ]/),
  };
  const { content, cdnUrl } = value;
  if ((content === undefined || content === null) === (cdnUrl === undefined || cdnUrl === null)) {
    invalid('An attachment has either content or cdnUrl.');
  }
  return typeof content === 'string'
    ? { ...named, content: base64(content, mostBytes) }
    : { ...named, cdnUrl: publicUrl(cdnUrl) };
}

function label(value: unknown, forbidden: RegExp): string {
  if (typeof value !== 'string' || value === '' || characters(value) > 255)
    invalid('The attachment is invalid.');
  if (hasControl(value) || forbidden.test(value)) invalid('The attachment is invalid.');
  return wellFormed(value);
}

function base64(content: string, mostBytes: number): string {
  const bare = content.startsWith('data:')
    ? (/^data:[^,]*;base64,/.exec(content)?.[0] ?? null)
    : '';
  if (bare === null) invalid('The attachment is not base64.');
  const text = content.slice(bare.length);
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  if (text.length % 4 !== 0 || NOT_BASE64.test(text.slice(0, text.length - padding))) {
    invalid('The attachment is not base64.');
  }
  if ((text.length / 4) * 3 - padding > mostBytes) {
    throw new ContractError(
      'REQUEST_TOO_LARGE',
      `The attachment is larger than ${mostBytes} bytes.`,
    );
  }
  return text;
}

function publicUrl(value: unknown): string {
  if (typeof value !== 'string') invalid('cdnUrl must be text.');
  if (!isPublicUrl(value))
    throw new ContractError('REMOTE_ATTACHMENT_URL_DENIED', 'This address is not allowed.');
  return value;
}
