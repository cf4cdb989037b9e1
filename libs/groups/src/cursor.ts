import { ContractError, isObject } from '@flowly/contract';

const MAX_CURSOR = 512;

/** The cursor of the history before a sequence: base64url of `{"r":…,"s":…,"v":2}` (groups.md §11). */
export function encodeCursor(groupId: string, seq: number): string {
  const base64 = btoa(JSON.stringify({ r: groupId, s: seq, v: 2 }));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/**
 * The sequence a cursor means; only the exact text that {@link encodeCursor} makes is one.
 * @throws ContractError ROOM_CURSOR_INVALID
 */
export function decodeCursor(cursor: unknown, groupId: string): number {
  const seq = typeof cursor === 'string' && cursor.length <= MAX_CURSOR ? readSeq(cursor) : null;
  if (seq === null || encodeCursor(groupId, seq) !== cursor) {
    throw new ContractError('ROOM_CURSOR_INVALID', 'The history cursor is invalid.');
  }
  return seq;
}

function readSeq(cursor: string): number | null {
  try {
    const value: unknown = JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')));
    const seq = isObject(value) ? value['s'] : null;
    return typeof seq === 'number' && Number.isSafeInteger(seq) && seq >= 0 ? seq : null;
  } catch {
    return null;
  }
}
