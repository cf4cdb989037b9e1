import { COMMANDS_DDL } from '../core/commands';
import { OUTBOX_DDL } from '../core/outbox';
import { KEYS_DDL } from './idempotency';
import { REMOVALS_DDL } from './session-removals';

/** The format of the group database (store.md §1): schema 4 of Flowly and tables of our own beside it. */

/** "FLYR". */
export const APPLICATION_ID = 0x464c5952;
export const SCHEMA_VERSION = 4;

export const SCHEMA_DDL = `
CREATE TABLE room_store_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rooms(
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  mode TEXT NOT NULL,
  members_json TEXT NOT NULL,
  watermarks_json TEXT NOT NULL,
  run_json TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  row_revision INTEGER NOT NULL,
  next_seq INTEGER NOT NULL DEFAULT 0,
  usage_json TEXT,
  member_policies_json TEXT
) WITHOUT ROWID;
CREATE TABLE room_messages(
  room_id TEXT NOT NULL REFERENCES rooms(id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  trimmed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (room_id, seq),
  UNIQUE (room_id, message_id)
) WITHOUT ROWID;
CREATE INDEX room_messages_id_idx ON room_messages(message_id);
CREATE INDEX room_messages_live_idx ON room_messages(room_id, trimmed, seq);
INSERT INTO room_store_meta(key, value) VALUES ('revision', '0');
`;

/** Tables and columns a database of schema 4 has, in their order. */
export const SCHEMA_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  room_store_meta: ['key', 'value'],
  rooms: [
    'id',
    'title',
    'mode',
    'members_json',
    'watermarks_json',
    'run_json',
    'created_at',
    'updated_at',
    'row_revision',
    'next_seq',
    'usage_json',
    'member_policies_json',
  ],
  room_messages: ['room_id', 'seq', 'message_id', 'payload_json', 'trimmed'],
};

/** The index without which reading a window walks the whole group. */
export const LIVE_INDEX = 'room_messages_live_idx';

/**
 * Tables of our own. They change the meaning of nothing above; a database without them is complete,
 * and they are made when it is opened.
 */
export const EXT_DDL = `
CREATE TABLE IF NOT EXISTS ext_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ext_groups(
  room_id TEXT PRIMARY KEY REFERENCES rooms(id) ON DELETE CASCADE,
  total INTEGER NOT NULL,
  live INTEGER NOT NULL,
  weight INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ext_runs(
  room_id TEXT NOT NULL REFERENCES rooms(id) ON DELETE CASCADE,
  run_id TEXT NOT NULL,
  state_json TEXT NOT NULL,
  PRIMARY KEY (room_id, run_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ext_media(
  media_id TEXT NOT NULL,
  room_id TEXT NOT NULL REFERENCES rooms(id) ON DELETE CASCADE,
  PRIMARY KEY (media_id, room_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ext_media_room_idx ON ext_media(room_id);
${KEYS_DDL};
${REMOVALS_DDL};
${OUTBOX_DDL};
${COMMANDS_DDL};
`;
