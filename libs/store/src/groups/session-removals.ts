import { sessionRemovalSchema } from '@flowly/contract';
import { z } from 'zod';
import type { Database } from '../core/database';

/**
 * Private sessions that are to go (groups.md §9). A row stays until its bot has said that it is done, also when its
 * group is gone, so it refers to nothing.
 */
export const REMOVALS_DDL = `
CREATE TABLE IF NOT EXISTS ext_session_removals(
  removal_id TEXT PRIMARY KEY,
  room_id TEXT NOT NULL,
  bot TEXT NOT NULL,
  decided_at INTEGER NOT NULL,
  given_at INTEGER NOT NULL,
  steps_json TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ext_session_removals_bot_idx ON ext_session_removals(room_id, bot)`;

const stepsSchema = sessionRemovalSchema.shape.steps;

const rowSchema = z
  .object({
    removal_id: z.string(),
    room_id: z.string(),
    bot: z.string(),
    decided_at: z.number(),
    steps_json: z.string(),
  })
  .transform((row) => ({
    removalId: row.removal_id,
    groupId: row.room_id,
    bot: row.bot,
    /** Unix ms of the decision. */
    at: row.decided_at,
    /** Steps of the bot whose end was awaited. */
    steps: stepsSchema.parse(JSON.parse(row.steps_json)),
  }));

/** A private session that is to be removed. */
export type PendingRemoval = z.infer<typeof rowSchema>;

export function addRemoval(database: Database, removal: PendingRemoval): void {
  database.run(
    `INSERT OR IGNORE INTO ext_session_removals(removal_id, room_id, bot, decided_at, given_at, steps_json)
      VALUES (?, ?, ?, ?, ?, ?)`,
    removal.removalId,
    removal.groupId,
    removal.bot,
    removal.at,
    removal.at,
    JSON.stringify(removal.steps),
  );
}

export function pendingRemovals(
  database: Database,
  groupId: string,
  bot: string,
): PendingRemoval[] {
  return database
    .all(
      'SELECT * FROM ext_session_removals WHERE room_id = ? AND bot = ? ORDER BY decided_at',
      groupId,
      bot,
    )
    .map((row) => rowSchema.parse(row));
}

/** Those that were last given before that moment (Unix ms). */
export function removalsGivenBefore(database: Database, before: number): PendingRemoval[] {
  return database
    .all('SELECT * FROM ext_session_removals WHERE given_at < ?', before)
    .map((row) => rowSchema.parse(row));
}

export function markRemovalGiven(database: Database, removalId: string, at: number): void {
  database.run('UPDATE ext_session_removals SET given_at = ? WHERE removal_id = ?', at, removalId);
}

export function deleteRemoval(database: Database, removalId: string): void {
  database.run('DELETE FROM ext_session_removals WHERE removal_id = ?', removalId);
}
