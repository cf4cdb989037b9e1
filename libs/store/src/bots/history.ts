import { ContractError, type ChatHistoryResult } from '@flowly/contract';
import type { Database } from '../core/database';
import { decodeCursor, encodeCursor } from './cursor';
import { messagesBefore, toChatMessage, type MessageRow } from './message';
import { findSession } from './session';

export interface HistoryQuery {
  sessionKey: string;
  limit?: number | undefined;
  before?: string | undefined;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const NEWEST = Number.MAX_SAFE_INTEGER;
/** 3.9 MiB of JSON a page (wire.md §6), less what the frame around it needs. */
const PAGE_BYTES = Math.floor(3.9 * 1024 * 1024) - 16 * 1024;

/**
 * `chat.history` (bots.md §3.3): everything, or a page that begins with a user message where one is
 * near enough. An unknown session is empty.
 * @param pageBytes JSON bytes a page's messages may take; a page holds one message at least
 * @throws ContractError `INVALID_HISTORY_CURSOR`
 */
export function chatHistory(
  database: Database,
  query: HistoryQuery,
  pageBytes = PAGE_BYTES,
): ChatHistoryResult {
  return database.read(() => {
    const { sessionKey, limit, before } = query;
    const head = {
      sessionKey,
      sessionId: sessionKey,
      thinkingLevel: null,
      modelOverride: findSession(database, sessionKey)?.modelOverride ?? null,
    };
    if (limit === undefined && before === undefined) {
      return { ...head, messages: shown(messagesBefore(database, sessionKey, NEWEST, -1)) };
    }
    const from = before === undefined ? NEWEST : position(before, sessionKey);
    const page = fitting(pageOf(database, sessionKey, from, limit ?? DEFAULT_LIMIT), pageBytes);
    return {
      ...head,
      messages: shown(page),
      historyPageVersion: 1,
      ...older(database, sessionKey, page),
    };
  });
}

function shown(newestFirst: MessageRow[]) {
  return newestFirst.map(toChatMessage).reverse();
}

/** `limit` messages, and the older ones up to the nearest user message. */
function pageOf(database: Database, sessionKey: string, from: number, limit: number): MessageRow[] {
  const page = messagesBefore(database, sessionKey, from, limit);
  const oldest = page.at(-1);
  if (!oldest || oldest.role === 'user') return page;
  const more = messagesBefore(database, sessionKey, oldest.id, MAX_LIMIT - page.length);
  const question = more.findIndex((row) => row.role === 'user');
  return [...page, ...(question < 0 ? more : more.slice(0, question + 1))];
}

/** The newest messages whose JSON fits; some clients drop a longer line. */
function fitting(newestFirst: MessageRow[], bytes: number): MessageRow[] {
  let used = 0;
  const over = newestFirst.findIndex((row) => {
    used += Buffer.byteLength(JSON.stringify(toChatMessage(row))) + 1;
    return used > bytes;
  });
  return over < 0 ? newestFirst : newestFirst.slice(0, Math.max(1, over));
}

function older(database: Database, sessionKey: string, page: MessageRow[]) {
  const oldest = page.at(-1);
  const hasOlder =
    oldest !== undefined && messagesBefore(database, sessionKey, oldest.id, 1).length > 0;
  return { hasOlder, before: hasOlder ? encodeCursor(sessionKey, oldest.id) : null };
}

function position(cursor: string, sessionKey: string): number {
  const [key, eventId] = decodeCursor(cursor) ?? [];
  const isPosition =
    key === sessionKey &&
    typeof eventId === 'number' &&
    Number.isSafeInteger(eventId) &&
    eventId >= 1 &&
    // The very text that a page gave out, not JSON that means the same.
    encodeCursor(sessionKey, eventId) === cursor;
  if (!isPosition) {
    throw new ContractError('INVALID_HISTORY_CURSOR', 'The cursor is invalid.');
  }
  return eventId;
}
