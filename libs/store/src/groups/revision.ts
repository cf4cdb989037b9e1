import { z } from 'zod';
import type { Database } from '../core/database';

const rowSchema = z.object({ value: z.string() });

/** `revision`: grows by one with every transaction that touches Flowly's tables (store.md §1). */
export function readRevision(database: Database): number {
  const row = database.get("SELECT value FROM room_store_meta WHERE key = 'revision'");
  return Number(rowSchema.parse(row).value);
}

export function writeRevision(database: Database, revision: number): void {
  database.run("UPDATE room_store_meta SET value = ? WHERE key = 'revision'", String(revision));
}

/** The revision our derived rows are made from; null in a database that has none yet. */
export function readDerivedRevision(database: Database): number | null {
  const row = database.get("SELECT value FROM ext_meta WHERE key = 'revision'");
  return row === undefined ? null : Number(rowSchema.parse(row).value);
}

export function writeDerivedRevision(database: Database, revision: number): void {
  database.run(
    `INSERT INTO ext_meta(key, value) VALUES ('revision', ?)
      ON CONFLICT(key) DO UPDATE SET value = excluded.value`,
    String(revision),
  );
}
