import { z } from 'zod';
import type { Database } from './database';

/**
 * What follows from a commit, written with it (design rule 1). A relay takes the oldest row first
 * and deletes what is out; the sequence lets the receiving side drop what came twice.
 */
export const OUTBOX_DDL = `CREATE TABLE IF NOT EXISTS ext_outbox(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL)`;

/** Where a row goes: the event stream, a gateway's replies, or the queue of a service. */
export type OutboxTarget =
  | 'events'
  | 'reply'
  | 'bot-turns'
  | 'bot-aborts'
  | 'bot-resolves'
  | 'group-turns';

const outboxRowSchema = z.object({
  seq: z.number().int(),
  /** One of {@link OutboxTarget}, unless another version of the product wrote it. */
  target: z.string(),
  kind: z.string(),
  body: z.string(),
});
export type OutboxRow = z.infer<typeof outboxRowSchema>;

/** Adds a row; only inside a transaction of `database.write`. */
export function addToOutbox(
  database: Database,
  target: OutboxTarget,
  kind: string,
  body: unknown,
): void {
  database.run(
    'INSERT INTO ext_outbox(target, kind, body) VALUES (?, ?, ?)',
    target,
    kind,
    JSON.stringify(body),
  );
  database.touchOutbox();
}

/** The oldest rows, in order. */
export function oldestOutboxRows(database: Database, limit: number): OutboxRow[] {
  return database
    .all('SELECT seq, target, kind, body FROM ext_outbox ORDER BY seq LIMIT ?', limit)
    .map((row) => outboxRowSchema.parse(row));
}

const spanSchema = z.object({ oldest: z.number().nullable(), newest: z.number().nullable() });

/** Sequences of the first and the last row that wait; null when none does. */
export function outboxSpan(database: Database): z.infer<typeof spanSchema> {
  return spanSchema.parse(
    database.get(`SELECT (SELECT MIN(seq) FROM ext_outbox) AS oldest,
      (SELECT MAX(seq) FROM ext_outbox) AS newest`),
  );
}

/** Removes the rows that are out. */
export async function removeOutboxRows(database: Database, upTo: number): Promise<void> {
  await database.tidy(() => database.run('DELETE FROM ext_outbox WHERE seq <= ?', upTo));
}

const ASIDE_DDL = `CREATE TABLE IF NOT EXISTS ext_outbox_aside(
  seq INTEGER PRIMARY KEY, target TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL)`;

/** Takes a row that nobody can carry out of the way of those behind it, and keeps it to be looked into. */
export async function setOutboxRowAside(database: Database, seq: number): Promise<void> {
  await database.write(() => {
    database.exec(ASIDE_DDL);
    database.run(
      `INSERT OR IGNORE INTO ext_outbox_aside(seq, target, kind, body)
       SELECT seq, target, kind, body FROM ext_outbox WHERE seq = ?`,
      seq,
    );
    database.run('DELETE FROM ext_outbox WHERE seq = ?', seq);
  });
}
