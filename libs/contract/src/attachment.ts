import { z } from 'zod';
import { ContractError } from './errors';
import { byRule, invalid, isObject } from './parse';
import { hasControl } from './text';

const MAX_FILES = 10;
const MAX_BYTES = 26_214_400;
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

/** The attachments of `chat.send` (bots.md §3.3); unknown keys are dropped. */
export const chatAttachmentsSchema = byRule((value): ChatAttachment[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) invalid('attachments must be a list.');
  if (value.length > MAX_FILES) invalid('A message takes up to 10 files.');
  return value.map(attachment);
});

function attachment(value: unknown): ChatAttachment {
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
    ? { ...named, content: base64(content) }
    : { ...named, cdnUrl: publicUrl(cdnUrl) };
}

function label(value: unknown, forbidden: RegExp): string {
  if (typeof value !== 'string' || value.length < 1 || value.length > 255)
    invalid('The attachment is invalid.');
  if (hasControl(value) || forbidden.test(value)) invalid('The attachment is invalid.');
  return value;
}

function base64(content: string): string {
  const bare = content.startsWith('data:')
    ? (/^data:[^,]*;base64,/.exec(content)?.[0] ?? null)
    : '';
  if (bare === null) invalid('The attachment is not base64.');
  const text = content.slice(bare.length);
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  if ((text.length / 4) * 3 - padding > MAX_BYTES) {
    throw new ContractError('REQUEST_TOO_LARGE', 'The attachment is larger than 25 MiB.');
  }
  if (text.length % 4 !== 0 || NOT_BASE64.test(text.slice(0, text.length - padding))) {
    invalid('The attachment is not base64.');
  }
  return text;
}

const LOCAL_NAME = /(?:^|\.)(?:internal|invalid|local|localhost|test|home\.arpa)$/;

function publicUrl(value: unknown): string {
  if (typeof value !== 'string') invalid('cdnUrl must be text.');
  const url = value.length <= 4096 && URL.canParse(value) ? new URL(value) : null;
  const host = url?.hostname.replace(/\.$/, '').toLowerCase() ?? '';
  const open =
    url?.protocol === 'https:' &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    !value.includes('#') &&
    isPublicHost(host);
  if (!open)
    throw new ContractError('REMOTE_ATTACHMENT_URL_DENIED', 'This address is not allowed.');
  return value;
}

function isPublicHost(host: string): boolean {
  if (host.startsWith('[')) return isGlobalV6(host.slice(1, -1));
  if (/^\d+(?:\.\d+){3}$/.test(host)) return isGlobalV4(host.split('.').map(Number));
  return host.includes('.') && !LOCAL_NAME.test(host);
}

/** Special-purpose IPv4 blocks (IANA) as [first octets, prefix length]. */
const SPECIAL_V4: readonly (readonly [number, number])[] = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc0586300, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 3],
];

function isGlobalV4(octets: number[]): boolean {
  const address = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return !SPECIAL_V4.some(
    ([block, bits]) => Math.floor(address / 2 ** (32 - bits)) === block / 2 ** (32 - bits),
  );
}

/** Global unicast is 2000::/3 without documentation, 6to4, Teredo and benchmarking blocks. */
function isGlobalV6(address: string): boolean {
  const first = Number.parseInt(address.split(':')[0] || '0', 16);
  const second = Number.parseInt(address.split(':')[1] || '0', 16);
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return false;
  return first !== 0x2002 && first !== 0x3fff;
}
