import { z } from 'zod';
import { isInternalSession } from '@flowly/contract';
import type { Database } from '../core/database';

/** A conversation that has had an exchange and no title yet. */
export interface Untitled {
  key: string;
  /** Unix ms; with the key it names this session and none that is made later. */
  createdAt: number;
  /** What was asked and answered first. */
  question: string;
  answer: string;
}

const keySchema = z.object({ key: z.string() });
const createdSchema = z.object({ created_at: z.number() });
const firstSchema = z.object({ text: z.string() });

/** The session if it is due for a title: one of a client's that was answered and has none. */
export function findUntitled(database: Database, key: string): Untitled | null {
  if (isInternalSession(key)) return null;
  const sql = `SELECT created_at FROM sessions
    WHERE key = ? AND title IS NULL AND last_assistant_at IS NOT NULL`;
  const row = database.get(sql, key);
  if (row === undefined) return null;
  const { created_at: createdAt } = createdSchema.parse(row);
  return {
    key,
    createdAt,
    question: firstText(database, key, 'user'),
    answer: firstText(database, key, 'assistant'),
  };
}

/** Sessions whose title is due since before `before` (Unix ms), at most `limit`. */
export function overdueTitles(database: Database, before: number, limit: number): string[] {
  return database
    .all('SELECT key FROM sessions WHERE title IS NULL AND last_assistant_at < ?', before)
    .map((row) => keySchema.parse(row).key)
    .filter((key) => !isInternalSession(key))
    .slice(0, limit);
}

/** Gives the session its title, unless it has one or is gone. Only inside `database.write` or `tidy`. */
export function saveTitle(
  database: Database,
  { key, createdAt }: Pick<Untitled, 'key' | 'createdAt'>,
  title: string,
): void {
  const sql = 'UPDATE sessions SET title = ? WHERE key = ? AND created_at = ? AND title IS NULL';
  database.run(sql, title, key, createdAt);
}

function firstText(database: Database, key: string, role: 'user' | 'assistant'): string {
  const sql = `SELECT payload ->> '$.text' AS text FROM messages
    WHERE session_key = ? AND role = ? AND payload ->> '$.text' <> '' ORDER BY id LIMIT 1`;
  const row = database.get(sql, key, role);
  return row === undefined ? '' : firstSchema.parse(row).text;
}
