import { z } from 'zod';
import {
  invalid,
  isClientSession,
  isInternalSession,
  type SessionRow,
  type sessionsListParamsSchema,
  type sessionsListResultSchema,
} from '@flowly/contract';
import type { Database } from '../core/database';
import { decodeCursor, encodeCursor } from './cursor';
import { needsInputBySession } from './needs-input';

const rowSchema = z.object({
  key: z.string(),
  updated_at: z.number(),
  title: z.string().nullable(),
  model_override: z.string().nullable(),
  last_assistant_run_id: z.string().nullable(),
  last_assistant_at: z.number().nullable(),
  size_bytes: z.number(),
  running: z.number(),
});

interface Position {
  updatedAt: number;
  key: string;
}

const NEWEST: Position = { updatedAt: Number.MAX_SAFE_INTEGER, key: '' };
const CHUNK = 200;

/**
 * `sessions.list` (bots.md §3.2), newest first. A page is filled past the sessions that are hidden from
 * the caller: through `profiles.rpc` all but the client-visible ones, `straight` only internal ones.
 * @throws ContractError `INVALID_PARAMS` for a `before` that no page gave out
 */
export function sessionsList(
  database: Database,
  params: z.output<typeof sessionsListParamsSchema>,
  way: { straight: boolean },
): z.infer<typeof sessionsListResultSchema> {
  const isShown = way.straight ? (key: string) => !isInternalSession(key) : isClientSession;
  return database.read(() => {
    const from = params.before === undefined ? NEWEST : position(params.before);
    const limit = params.limit ?? Infinity;
    const waiting = needsInputBySession(database);
    const sessions: SessionRow[] = [];
    for (const row of newestFirst(database, from)) {
      if (!isShown(row.key)) continue;
      const last = sessions.at(-1);
      if (sessions.length === limit && last)
        return { sessions, next: encodeCursor(last.updatedAt, last.key) };
      const needsInput = waiting.get(row.key);
      sessions.push({ ...row, ...(needsInput && { needsInput }) });
    }
    return { sessions };
  });
}

function* newestFirst(database: Database, from: Position): Generator<SessionRow> {
  for (let at: Position | null = from; at; ) {
    const rows = chunk(database, at);
    yield* rows;
    at = rows.length < CHUNK ? null : (rows.at(-1) ?? null);
  }
}

function chunk(database: Database, from: Position): SessionRow[] {
  return database
    .all(
      `SELECT key, updated_at, title, model_override, last_assistant_run_id, last_assistant_at, size_bytes,
         EXISTS (SELECT 1 FROM runs WHERE session_key = key AND state = 'running') AS running
       FROM sessions WHERE (updated_at, key) < (?, ?) ORDER BY updated_at DESC, key DESC LIMIT ${CHUNK}`,
      from.updatedAt,
      from.key,
    )
    .map((row) => toSessionRow(rowSchema.parse(row)));
}

function toSessionRow(row: z.infer<typeof rowSchema>): SessionRow {
  const colon = row.key.indexOf(':');
  const chatId = row.key.slice(colon + 1);
  return {
    key: row.key,
    sizeBytes: row.size_bytes,
    modifiedAt: row.updated_at,
    channel: colon < 0 ? '' : row.key.slice(0, colon),
    chatId,
    title: row.title,
    displayName: row.title ?? chatId,
    updatedAt: row.updated_at,
    lastAssistantRunId: row.last_assistant_run_id,
    lastAssistantAt: row.last_assistant_at,
    running: row.running === 1,
    modelOverride: row.model_override,
  };
}

function position(cursor: string): Position {
  const [updatedAt, key] = decodeCursor(cursor) ?? [];
  if (typeof updatedAt !== 'number' || typeof key !== 'string')
    invalid('before is no cursor of this list.');
  return { updatedAt, key };
}
