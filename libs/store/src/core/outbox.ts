import { z } from 'zod';
import type { Database } from './database';

/**
 * What follows from a commit, written with it (design rule 1). A relay takes the oldest row first
 * and deletes what is out; the sequence lets the receiving side drop what came twice.
 */
export const OUTBOX_DDL = `CREATE TABLE IF NOT EXISTS ext_outbox(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL)`;

/** Where a row goes: the event stream, a gateway's replies, or the queue of a service. */
const outboxTargetSchema = z.enum(['events', 'reply', 'bot-turns', 'bot-aborts', 'group-turns']);
export type OutboxTarget = z.infer<typeof outboxTargetSchema>;

const outboxRowSchema = z.object({
  seq: z.number().int(),
  target: outboxTargetSchema,
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

/** Removes the rows that are out. */
export async function removeOutboxRows(database: Database, upTo: number): Promise<void> {
  await database.write(() => database.run('DELETE FROM ext_outbox WHERE seq <= ?', upTo));
}
