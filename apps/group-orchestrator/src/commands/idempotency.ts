import { createHash } from 'node:crypto';
import { digest } from '@flowly/bus';
import { ContractError, type GroupFile } from '@flowly/contract';
import { resolvePolicies, type Redefinition } from '@flowly/groups';

/** What a client's idempotency key stands for: a digest says whether a second call is the same (groups.md §2). */
export interface Keyed {
  key: string;
  content: string;
}

/** The text as it is stored, and of each file its name, its type and the hash of its bytes or its address. */
export function contentOfSend(text: string, files: readonly GroupFile[]): string {
  const parts = files.map(({ fileName, mimeType, content, cdnUrl = '' }) => [
    fileName,
    mimeType,
    content === undefined ? `at ${cdnUrl}` : hashOf(content),
  ]);
  return digest('send', text, JSON.stringify(parts));
}

/** The definition with what is absent filled in as `create` does. */
export function contentOfCreate({ title, members, mode, policies }: Redefinition): string {
  const full = resolvePolicies(members, policies);
  const each = members.map((name) => [name, full[name]]);
  return digest('create', title, mode ?? 'panel', JSON.stringify(each));
}

/**
 * Whether this was done before.
 * @param known the content that the key was used for; null when it was not
 * @throws ContractError IDEMPOTENCY_CONFLICT
 */
export function isReplay(known: string | null, content: string): boolean {
  if (known === null) return false;
  if (known === content) return true;
  const message = 'This idempotency key was used for something else.';
  throw new ContractError('IDEMPOTENCY_CONFLICT', message);
}

function hashOf(base64: string): string {
  return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex');
}
