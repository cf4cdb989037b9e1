import { randomUUID } from 'node:crypto';
import type Sqlite from 'better-sqlite3';
import { z } from 'zod';
import type { Database } from '../core/database';

/**
 * Which life of the database this is. One that is set back to an earlier point counts its outbox from there again, and
 * one that takes the place of another from the start, so whoever knows how far the outbox had come must take it for
 * another one: a backup and a restore each begin a new life, and so does a database whose outbox was never used.
 */

export const EXT_META_DDL =
  'CREATE TABLE IF NOT EXISTS ext_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID';

const rowSchema = z.object({ value: z.string() });

/** Begins a new life of a copy, which nobody uses yet. */
export function beginGeneration(copy: Sqlite.Database): void {
  copy.exec(EXT_META_DDL);
  copy
    .prepare(
      `INSERT INTO ext_meta(key, value) VALUES ('generation', ?)
        ON CONFLICT(key) DO UPDATE SET value = excluded.value`,
    )
    .run(randomUUID());
}

/** Begins the life of a database whose outbox was never used; only inside a transaction. */
export function beginUnused(database: Database): void {
  database.run(
    `INSERT OR IGNORE INTO ext_meta(key, value)
      SELECT 'generation', ? WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'ext_outbox')`,
    randomUUID(),
  );
}

/** Null in a database that began before lives were told apart, and was never set back. */
export function readGeneration(database: Database): string | null {
  const row = database.get("SELECT value FROM ext_meta WHERE key = 'generation'");
  return row === undefined ? null : rowSchema.parse(row).value;
}
