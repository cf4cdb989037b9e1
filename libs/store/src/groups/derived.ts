import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isObject } from '@flowly/contract';
import type { Database } from '../core/database';
import { weightOf } from './messages';
import { readDerivedRevision, readRevision, writeDerivedRevision } from './revision';
import { LIVE_INDEX } from './schema';
import { parseStored } from './stored-json';

/**
 * What our own tables hold of Flowly's: sizes of groups, references to media. Kept by each of our
 * transactions, and made anew from the messages when another program has written (store.md §1).
 */

const countSchema = z.object({
  room_id: z.string(),
  total: z.number().int(),
  live: z.number().int(),
});
type MessageCount = z.infer<typeof countSchema>;
const messageSchema = z.object({
  room_id: z.string(),
  trimmed: z.number(),
  payload_json: z.string().catch(''),
});

/** What the messages of a group say. */
interface Said {
  weight: number;
  media: Set<string>;
}

/** Whether nobody but us has written since the derived rows were made. */
export function isDerivedCurrent(database: Database): boolean {
  return readDerivedRevision(database) === readRevision(database);
}

/** Whether there are as many messages as the sizes say; counts all of them, so only for the start. */
export function areCountsRight(database: Database): boolean {
  const stored = database
    .all('SELECT room_id, total, live FROM ext_groups ORDER BY room_id')
    .map((row) => countSchema.parse(row));
  return isDeepStrictEqual(stored, countMessages(database));
}

/** Only inside a transaction. */
export function rebuildDerived(database: Database): void {
  const said = readMessages(database);
  database.run('DELETE FROM ext_groups');
  database.run('DELETE FROM ext_media');
  for (const { room_id, total, live } of countMessages(database)) {
    const { weight, media } = said.get(room_id) ?? silence();
    database.run(
      'INSERT INTO ext_groups(room_id, total, live, weight) VALUES (?, ?, ?, ?)',
      room_id,
      total,
      live,
      weight,
    );
    for (const mediaId of media)
      database.run('INSERT INTO ext_media(media_id, room_id) VALUES (?, ?)', mediaId, room_id);
  }
  writeDerivedRevision(database, readRevision(database));
}

function countMessages(database: Database): MessageCount[] {
  return database
    .all(
      `SELECT id AS room_id, (SELECT COUNT(*) FROM room_messages WHERE room_id = id) AS total,
        (SELECT COUNT(*) FROM room_messages INDEXED BY ${LIVE_INDEX} WHERE room_id = id AND trimmed = 0) AS live
        FROM rooms ORDER BY id`,
    )
    .map((row) => countSchema.parse(row));
}

/** By group. Reads the table once, in its own order, as `inspect.ts` does. */
function readMessages(database: Database): Map<string, Said> {
  const groups = new Map<string, Said>();
  const rows = database.each(`SELECT room_id, trimmed, payload_json FROM room_messages NOT INDEXED
    WHERE trimmed = 0 OR instr(payload_json, 'mediaId') > 0`);
  for (const row of rows) {
    const { room_id, trimmed, payload_json } = messageSchema.parse(row);
    const said = groups.get(room_id) ?? silence();
    groups.set(room_id, said);
    const payload = parseStored(payload_json);
    if (trimmed === 0) said.weight += weightOf(payload);
    for (const mediaId of mediaOf(payload)) said.media.add(mediaId);
  }
  return groups;
}

function silence(): Said {
  return { weight: 0, media: new Set() };
}

function mediaOf(payload: unknown): string[] {
  const attachments = isObject(payload) ? payload['attachments'] : undefined;
  if (!Array.isArray(attachments)) return [];
  return attachments.flatMap((file: unknown) =>
    isObject(file) && typeof file['mediaId'] === 'string' ? [file['mediaId']] : [],
  );
}
