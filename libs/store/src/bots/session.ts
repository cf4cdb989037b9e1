import { z } from 'zod';
import type { Database } from '../core/database';

const rowSchema = z
  .object({ key: z.string(), title: z.string().nullable(), model_override: z.string().nullable() })
  .transform((row) => ({ key: row.key, title: row.title, modelOverride: row.model_override }));
export type Session = z.infer<typeof rowSchema>;

export function findSession(database: Database, key: string): Session | null {
  const row = database.get('SELECT key, title, model_override FROM sessions WHERE key = ?', key);
  return row === undefined ? null : rowSchema.parse(row);
}

/** Makes the session if it is new; `at` (Unix ms) is when it last moved. */
export function touchSession(database: Database, key: string, at: number): void {
  database.run(
    `INSERT INTO sessions(key, created_at, updated_at) VALUES (?, ?, ?)
     ON CONFLICT(key) DO UPDATE SET updated_at = max(updated_at, excluded.updated_at)`,
    key,
    at,
    at,
  );
}

/** The session's own model; null takes it away. Makes the session if it is new and gets one. Only inside `database.write`. */
export function saveSessionModel(
  database: Database,
  key: string,
  model: string | null,
  at: number,
): void {
  if (model !== null && findSession(database, key) === null) touchSession(database, key, at);
  database.run('UPDATE sessions SET model_override = ? WHERE key = ?', model, key);
}

/** Counts a stored message in. */
export function growSession(database: Database, key: string, bytes: number, at: number): void {
  database.run(
    'UPDATE sessions SET size_bytes = size_bytes + ?, updated_at = max(updated_at, ?) WHERE key = ?',
    bytes,
    at,
    key,
  );
}

/** Remembers the run that answered last. */
export function noteAnswer(database: Database, key: string, runId: string, at: number): void {
  database.run(
    'UPDATE sessions SET last_assistant_run_id = ?, last_assistant_at = ? WHERE key = ?',
    runId,
    at,
    key,
  );
}
