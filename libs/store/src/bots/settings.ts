import { z } from 'zod';
import type { Database } from '../core/database';

const rowSchema = z.object({ value: z.string() });

/** A setting of the bot as JSON; undefined when it was never set. */
export function readSetting(database: Database, key: string): unknown {
  const row = database.get('SELECT value FROM settings WHERE key = ?', key);
  return row === undefined ? undefined : JSON.parse(rowSchema.parse(row).value);
}

/** Only inside `database.write`. */
export function saveSetting(database: Database, key: string, value: unknown): void {
  database.run(
    `INSERT INTO settings(key, value) VALUES (?, ?)
     ON CONFLICT(key) DO UPDATE SET value = excluded.value`,
    key,
    JSON.stringify(value),
  );
}
