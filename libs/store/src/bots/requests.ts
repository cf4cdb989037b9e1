import { z } from 'zod';
import type { Database } from '../core/database';

/**
 * What turns ask of people: approvals and questions (design rule 5). A request is decided by one transaction that
 * finds it open and not expired; its expiry and its being given up take the same path, so there is one winner.
 */
export const REQUESTS_DDL = `
CREATE TABLE requests(
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  closed_at INTEGER,
  reason TEXT,
  answer TEXT) WITHOUT ROWID;
CREATE UNIQUE INDEX requests_one_open_idx ON requests(run_id) WHERE closed_at IS NULL;
CREATE INDEX requests_closed_idx ON requests(closed_at) WHERE closed_at IS NOT NULL;
`;

const requestKindSchema = z.enum(['approval', 'clarify']);
export type RequestKind = z.infer<typeof requestKindSchema>;

const closeReasonSchema = z.enum([
  'allow-once',
  'allow-always',
  'deny',
  'answered',
  'timeout',
  'cancelled',
]);
export type CloseReason = z.infer<typeof closeReasonSchema>;

const rowSchema = z
  .object({
    id: z.string(),
    run_id: z.string(),
    session_key: z.string(),
    kind: requestKindSchema,
    body: z
      .string()
      .transform((text): unknown => JSON.parse(text))
      .pipe(z.record(z.string(), z.unknown())),
    created_at: z.number(),
    expires_at: z.number(),
    closed_at: z.number().nullable(),
    reason: closeReasonSchema.nullable(),
    answer: z.string().nullable(),
  })
  .transform((row) => ({
    id: row.id,
    runId: row.run_id,
    sessionKey: row.session_key,
    kind: row.kind,
    /** What is shown of it, besides id, session and times. */
    body: row.body,
    /** Times in Unix ms. */
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    closedAt: row.closed_at,
    /** How it ended; null while it is open. */
    reason: row.reason,
    answer: row.answer,
  }));

/** An approval or a question of a turn. */
export type BotRequest = z.infer<typeof rowSchema>;

export type NewRequest = Pick<
  BotRequest,
  'id' | 'runId' | 'sessionKey' | 'kind' | 'body' | 'createdAt' | 'expiresAt'
>;

/**
 * Opens a request for the turn that drives the run with this claim. Null when the claim no longer stands or the run is
 * to end; a turn has at most one open. Only inside `database.write`.
 */
export function openRequest(
  database: Database,
  request: NewRequest,
  epoch: number,
): BotRequest | null {
  const sql = `INSERT INTO requests(id, run_id, session_key, kind, body, created_at, expires_at)
    SELECT ?, run_id, session_key, ?, ?, ?, ? FROM runs
     WHERE run_id = ? AND epoch = ? AND state = 'running' AND abort_requested = 0 RETURNING *`;
  const { id, kind, body, createdAt, expiresAt, runId } = request;
  return parsed(
    database.get(sql, id, kind, JSON.stringify(body), createdAt, expiresAt, runId, epoch),
  );
}

export interface RequestEnd {
  reason: CloseReason;
  /** What was answered to a question. */
  answer?: string | undefined;
  /** Unix ms. */
  at: number;
}

/**
 * Closes a request by a decision, before it expires. Null, and nothing is changed, when there is no such request, or
 * it was closed or has expired. Only inside `database.write`.
 */
export function decideRequest(database: Database, id: string, end: RequestEnd): BotRequest | null {
  return close(database, id, end, end.at);
}

/** Closes a request that nobody may decide any more, expired or not; null when it is closed. Only inside `database.write`. */
export function giveUpRequest(database: Database, id: string, end: RequestEnd): BotRequest | null {
  return close(database, id, end, -1);
}

export function findRequest(database: Database, id: string): BotRequest | null {
  return parsed(database.get('SELECT * FROM requests WHERE id = ?', id));
}

/** The request of a run that waits, expired or not. */
export function openRequestOf(database: Database, runId: string): BotRequest | null {
  const sql = 'SELECT * FROM requests WHERE run_id = ? AND closed_at IS NULL';
  return parsed(database.get(sql, runId));
}

/** Requests of a kind that can be decided at `at` (Unix ms), oldest first. */
export function openRequests(database: Database, kind: RequestKind, at: number): BotRequest[] {
  return database
    .all(
      `SELECT * FROM requests WHERE closed_at IS NULL AND kind = ? AND expires_at > ?
       ORDER BY created_at, id`,
      kind,
      at,
    )
    .map((row) => rowSchema.parse(row));
}

/** Forgets requests that were closed before `before` (Unix ms). */
export async function forgetRequests(database: Database, before: number): Promise<void> {
  await database.tidy(() => database.run('DELETE FROM requests WHERE closed_at < ?', before));
}

/** @param expiresAfter the request must expire later than this */
function close(
  database: Database,
  id: string,
  { reason, answer, at }: RequestEnd,
  expiresAfter: number,
): BotRequest | null {
  const sql = `UPDATE requests SET closed_at = ?, reason = ?, answer = ?
    WHERE id = ? AND closed_at IS NULL AND expires_at > ? RETURNING *`;
  return parsed(database.get(sql, at, reason, answer ?? null, id, expiresAfter));
}

function parsed(row: unknown): BotRequest | null {
  return row === undefined ? null : rowSchema.parse(row);
}
