import { trimWindow, type WindowSize } from '@flowly/groups';
import type { Database } from '../core/database';
import { MESSAGE_COLUMNS, readWeight } from './messages';
import { LIVE_INDEX } from './schema';

/** Rows of the live window; without the index SQLite walks the whole group. */
export const FROM_WINDOW = `FROM room_messages INDEXED BY ${LIVE_INDEX} WHERE room_id = ? AND trimmed = 0`;

/**
 * Takes the oldest messages out of a window that has just grown; they stay in the history. Reads only
 * what leaves.
 */
export function trimStoredWindow(
  database: Database,
  groupId: string,
  grown: WindowSize,
): WindowSize & { trimmed: number } {
  let oldestLeft = -1;
  function* weights(): Generator<number> {
    for (;;) {
      const row = database.get(
        `SELECT ${MESSAGE_COLUMNS} ${FROM_WINDOW} AND seq > ? ORDER BY seq LIMIT 1`,
        groupId,
        oldestLeft,
      );
      if (row === undefined) return;
      const { seq, weight } = readWeight(row);
      oldestLeft = seq;
      yield weight;
    }
  }
  const window = trimWindow(grown, weights());
  if (window.trimmed > 0) {
    database.run(
      `UPDATE room_messages INDEXED BY ${LIVE_INDEX} SET trimmed = 1
        WHERE room_id = ? AND trimmed = 0 AND seq <= ?`,
      groupId,
      oldestLeft,
    );
  }
  return window;
}
