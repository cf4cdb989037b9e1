import { z } from 'zod';
import type { Database } from './database';

/** The stored outcome of each command, so that a second delivery answers the same (design rule 2). */
export const COMMANDS_DDL = `CREATE TABLE IF NOT EXISTS ext_commands(
  command_id TEXT PRIMARY KEY, outcome TEXT NOT NULL, stored_at INTEGER NOT NULL) WITHOUT ROWID`;

const rowSchema = z.object({ outcome: z.string() });

/** The outcome this command had, or null when it never took effect here. */
export function findOutcome(database: Database, commandId: string): unknown {
  const row = database.get('SELECT outcome FROM ext_commands WHERE command_id = ?', commandId);
  return row === undefined ? null : JSON.parse(rowSchema.parse(row).outcome);
}

/** Stores an outcome; only inside the transaction of its change. `at` in Unix ms. */
export function storeOutcome(
  database: Database,
  commandId: string,
  outcome: unknown,
  at: number,
): void {
  database.run(
    'INSERT INTO ext_commands(command_id, outcome, stored_at) VALUES (?, ?, ?)',
    commandId,
    JSON.stringify(outcome),
    at,
  );
}

/** Forgets outcomes stored before `before` (Unix ms). */
export async function forgetOutcomes(database: Database, before: number): Promise<void> {
  await database.tidy(() => database.run('DELETE FROM ext_commands WHERE stored_at < ?', before));
}
