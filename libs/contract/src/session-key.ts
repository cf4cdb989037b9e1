import { ContractError } from './errors';
import { byRule, invalid } from './parse';
import { characters, hasControl, wellFormed } from './text';

const VISIBLE = ['desktop:', 'web:', 'ios:'];
const INTERNAL = ['desktop:profile-inbox:', 'desktop:profile-room:', 'desktop:profile-task:'];
const GROUP_SESSION = 'desktop:profile-room:';

/** The private session of a group at each of its members (groups.md §5). */
export function groupSessionKey(groupId: string): string {
  return `${GROUP_SESSION}${groupId}`;
}

/** The group a private session belongs to; null for any other session. */
export function groupOfSession(key: string): string | null {
  return key.startsWith(GROUP_SESSION) ? key.slice(GROUP_SESSION.length) : null;
}

/** What the keys of all private sessions of groups begin with. */
export const groupSessionPrefix = GROUP_SESSION;

/** Sessions the host itself drives; nothing of them is shown to a client as a conversation. */
export function isInternalSession(key: string): boolean {
  return INTERNAL.some((prefix) => key.startsWith(prefix));
}

/** Sessions a remote client may name and sees in lists (bots.md §2.1). */
export function isClientSession(key: string): boolean {
  return VISIBLE.some((prefix) => key.startsWith(prefix)) && !isInternalSession(key);
}

/** One form of a key, so that what is stored and what is told of it are the same. */
function wellFormedKey(value: unknown): string {
  if (typeof value !== 'string' || value === '') invalid('The session key must be text.');
  if (value !== value.trim() || characters(value) > 256 || hasControl(value))
    invalid('The session key is invalid.');
  return wellFormed(value);
}

/** The session key rule of `profiles.rpc` (bots.md §2.1). */
export const remoteSessionKeySchema = byRule((value): string => {
  const key = wellFormedKey(value);
  if (!isClientSession(key)) {
    throw new ContractError('REMOTE_SESSION_DENIED', 'This session is not open to clients.');
  }
  return key;
});

/** Straight on the socket any key that is not internal is taken (wire.md §4). */
export const straightSessionKeySchema = byRule((value): string => {
  const key = wellFormedKey(value);
  if (isInternalSession(key)) {
    throw new ContractError('REMOTE_SESSION_DENIED', 'This session is not open to clients.');
  }
  return key;
});
