import { z } from 'zod';
import type { Database } from '../core/database';

/**
 * Idempotency keys of clients (groups.md §2, our own additions). Those of sends live as long as their group; those of
 * creates hold for the installation and refer to nothing, since the group may be gone before the key is.
 */
export const KEYS_DDL = `
CREATE TABLE IF NOT EXISTS ext_sends(
  room_id TEXT NOT NULL REFERENCES rooms(id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (room_id, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ext_creates(
  key TEXT PRIMARY KEY,
  content TEXT NOT NULL,
  room_id TEXT NOT NULL,
  stored_at INTEGER NOT NULL
) WITHOUT ROWID`;

const contentSchema = z.object({ content: z.string() });
const createSchema = z
  .object({ content: z.string(), room_id: z.string() })
  .transform((row) => ({ content: row.content, groupId: row.room_id }));

/** The digest of what was sent into the group under this key; null when nothing was. */
export function findSend(database: Database, groupId: string, key: string): string | null {
  const row = database.get(
    'SELECT content FROM ext_sends WHERE room_id = ? AND key = ?',
    groupId,
    key,
  );
  return row === undefined ? null : contentSchema.parse(row).content;
}

export function storeSend(database: Database, groupId: string, key: string, content: string): void {
  database.run(
    'INSERT INTO ext_sends(room_id, key, content) VALUES (?, ?, ?)',
    groupId,
    key,
    content,
  );
}

/** What was made under this key since `from` (Unix ms). */
export function findCreate(
  database: Database,
  key: string,
  from: number,
): z.infer<typeof createSchema> | null {
  const row = database.get(
    'SELECT content, room_id FROM ext_creates WHERE key = ? AND stored_at >= ?',
    key,
    from,
  );
  return row === undefined ? null : createSchema.parse(row);
}

/** In place of one under the same key that no longer counts. */
export function storeCreate(
  database: Database,
  key: string,
  made: { content: string; groupId: string; at: number },
): void {
  database.run(
    'INSERT OR REPLACE INTO ext_creates(key, content, room_id, stored_at) VALUES (?, ?, ?, ?)',
    key,
    made.content,
    made.groupId,
    made.at,
  );
}

/** Forgets the keys of groups made before `before` (Unix ms). */
export async function forgetCreates(database: Database, before: number): Promise<void> {
  await database.tidy(() => database.run('DELETE FROM ext_creates WHERE stored_at < ?', before));
}
