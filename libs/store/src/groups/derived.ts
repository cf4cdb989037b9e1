import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Database } from '../core/database';
import { MESSAGE_COLUMNS, readWeight } from './messages';
import { readDerivedRevision, readRevision, writeDerivedRevision } from './revision';
import { FROM_WINDOW } from './window';

/**
 * What our own tables hold of Flowly's: sizes of groups, references to media. Kept by each of our
 * transactions, and made anew from the messages when another program has written (store.md §1).
 */

const sizeSchema = z.object({
  room_id: z.string(),
  total: z.number().int(),
  live: z.number().int(),
  weight: z.number().int(),
});
type GroupSize = z.infer<typeof sizeSchema>;

/** Whether nobody but us has written since the derived rows were made. */
export function isDerivedCurrent(database: Database): boolean {
  return readDerivedRevision(database) === readRevision(database);
}

/** Whether the sizes are what the messages say; looks at every window, so only for the start. */
export function areSizesRight(database: Database): boolean {
  const stored = database
    .all('SELECT room_id, total, live, weight FROM ext_groups ORDER BY room_id')
    .map((row) => sizeSchema.parse(row));
  return isDeepStrictEqual(stored, countSizes(database));
}

/** Only inside a transaction. */
export function rebuildDerived(database: Database): void {
  database.run('DELETE FROM ext_groups');
  for (const { room_id, total, live, weight } of countSizes(database)) {
    database.run(
      'INSERT INTO ext_groups(room_id, total, live, weight) VALUES (?, ?, ?, ?)',
      room_id,
      total,
      live,
      weight,
    );
  }
  database.run('DELETE FROM ext_media');
  database.run(`
    INSERT OR IGNORE INTO ext_media(media_id, room_id)
    SELECT media_id, room_id FROM (
      SELECT room_id, CASE attachment.type WHEN 'object' THEN json_extract(attachment.value, '$.mediaId') END AS media_id
      FROM room_messages,
        json_each(iif(json_valid(payload_json), payload_json, '{}'), '$.attachments') AS attachment
      WHERE instr(payload_json, 'mediaId') > 0)
    WHERE typeof(media_id) = 'text'`);
  writeDerivedRevision(database, readRevision(database));
}

function countSizes(database: Database): GroupSize[] {
  return database
    .all(
      `SELECT id AS room_id, (SELECT COUNT(*) FROM room_messages WHERE room_id = id) AS total,
        0 AS live, 0 AS weight FROM rooms ORDER BY id`,
    )
    .map((row) => sizeSchema.parse(row))
    .map((size) => ({ ...size, ...measureWindow(database, size.room_id) }));
}

function measureWindow(database: Database, groupId: string): Pick<GroupSize, 'live' | 'weight'> {
  const weights = database
    .all(`SELECT ${MESSAGE_COLUMNS} ${FROM_WINDOW}`, groupId)
    .map((row) => readWeight(row).weight);
  return { live: weights.length, weight: weights.reduce((sum, weight) => sum + weight, 0) };
}
