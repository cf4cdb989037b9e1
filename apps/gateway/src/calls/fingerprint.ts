import { createHash } from 'node:crypto';
import { isObject } from '@flowly/contract';

/**
 * What makes two sends with the same idempotency key the same one: the params as the client sent them
 * without that key, the session, and the bytes of attachments by their hash (bots.md §2.1).
 */
export function fingerprint(params: Record<string, unknown>, sessionKey: string): string {
  const { idempotencyKey: _, ...content } = params;
  const attachments = content['attachments'];
  const hashed = Array.isArray(attachments) ? { attachments: attachments.map(hashContent) } : {};
  return sha256(canonicalJson({ ...content, ...hashed, sessionKey }));
}

/** JSON whose keys are in one order, whatever order they came in. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${fields.join(',')}}`;
}

function hashContent(attachment: unknown): unknown {
  if (!isObject(attachment) || typeof attachment['content'] !== 'string') return attachment;
  return { ...attachment, content: sha256(attachment['content']) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
