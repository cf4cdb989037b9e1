import { z } from 'zod';
import type { Database } from '../core/database';

/** Which messages refer to which files (store.md §1, §5): `ext_media` answers, and for a sweep the messages themselves. */

const idSchema = z.object({ media_id: z.string() });
const payloadSchema = z.object({ payload_json: z.string() });
const GROUP_FILE = /group-[^\s"\\/]+/g;

/** Whether a message of any group, in or out of its window, has this file. */
export function isReferredTo(database: Database, mediaId: string): boolean {
  const row = database.get('SELECT 1 FROM ext_media WHERE media_id = ? LIMIT 1', mediaId);
  return row !== undefined;
}

/** The files of a group's messages that no message of another group has. */
export function unsharedMedia(database: Database, groupId: string): string[] {
  return database
    .all(
      `SELECT media_id FROM ext_media AS own WHERE room_id = ? AND NOT EXISTS (
        SELECT 1 FROM ext_media WHERE media_id = own.media_id AND room_id <> own.room_id)`,
      groupId,
    )
    .map((row) => idSchema.parse(row).media_id);
}

/**
 * The files of groups that any message names, read from the messages: what decides that a file may be removed must not
 * depend on rows that are derived from them. Walks the whole history, so only for a sweep that has found something.
 */
export function mediaInMessages(database: Database): Set<string> {
  const named = database
    .all(
      `SELECT DISTINCT json_extract(file.value, '$.mediaId') AS media_id
        FROM room_messages, json_each(iif(json_valid(payload_json), payload_json, '{}'), '$.attachments') AS file
        WHERE instr(payload_json, 'mediaId') > 0 AND file.type = 'object'
          AND json_type(file.value, '$.mediaId') = 'text'`,
    )
    .map((row) => idSchema.parse(row).media_id);
  return new Set([...named, ...mediaInUnreadable(database)]);
}

/** A message that cannot be read may still refer to files; whatever looks like one in it counts. */
function mediaInUnreadable(database: Database): string[] {
  return database
    .all(
      `SELECT payload_json FROM room_messages
        WHERE instr(payload_json, 'group-') > 0 AND NOT json_valid(payload_json)`,
    )
    .flatMap((row) => payloadSchema.parse(row).payload_json.match(GROUP_FILE) ?? []);
}
