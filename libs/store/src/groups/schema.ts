import type Sqlite from 'better-sqlite3';
import { COMMANDS_DDL } from '../core/commands';
import { OUTBOX_DDL } from '../core/outbox';
import { EXT_META_DDL } from './generation';
import { KEYS_DDL } from './idempotency';
import { REMOVALS_DDL } from './session-removals';

/** The format of the group database (store.md §1): schema 4 of Flowly and tables of our own beside it. */

/** "FLYR". */
export const APPLICATION_ID = 0x464c5952;
export const SCHEMA_VERSION = 4;

/** One statement each; a migration makes those that are missing. */
export const INDEX_DDL: readonly string[] = [
  'CREATE INDEX IF NOT EXISTS room_messages_id_idx ON room_messages(message_id)',
  'CREATE INDEX IF NOT EXISTS room_messages_live_idx ON room_messages(room_id, trimmed, seq)',
];

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
${INDEX_DDL.join(';\n')};
INSERT INTO room_store_meta(key, value) VALUES ('revision', '0');
`;

/** Table → its columns. */
export type StoredColumns = Readonly<Record<string, readonly string[]>>;

const GROUP_COLUMNS = [
  'id',
  'title',
  'mode',
  'members_json',
  'watermarks_json',
  'run_json',
  'created_at',
  'updated_at',
  'row_revision',
] as const;

/** Tables and columns of each version that can be read, in their order; `migrations.ts` leads from one to the next. */
export const SCHEMA_COLUMNS: Readonly<Record<number, StoredColumns>> = {
  1: {
    room_store_meta: ['key', 'value'],
    rooms: GROUP_COLUMNS,
    room_messages: ['room_id', 'ordinal', 'message_id', 'payload_json'],
  },
  2: withGroupColumns('next_seq'),
  3: withGroupColumns('next_seq', 'usage_json'),
  4: withGroupColumns('next_seq', 'usage_json', 'member_policies_json'),
};

function withGroupColumns(...added: string[]): StoredColumns {
  return {
    room_store_meta: ['key', 'value'],
    rooms: [...GROUP_COLUMNS, ...added],
    room_messages: ['room_id', 'seq', 'message_id', 'payload_json', 'trimmed'],
  };
}

/** The index without which reading a window walks the whole group. */
export const LIVE_INDEX = 'room_messages_live_idx';

/**
 * Tables of our own. They change the meaning of nothing above; a database without them is complete,
 * and they are made when it is opened.
 */
export const EXT_DDL = `
${EXT_META_DDL};
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

/** Makes an empty group database of a new file. */
export function buildStore(sqlite: Sqlite.Database): void {
  sqlite.pragma(`application_id = ${APPLICATION_ID}`);
  sqlite.pragma(`user_version = ${SCHEMA_VERSION}`);
  sqlite.exec(SCHEMA_DDL);
  sqlite.exec(EXT_DDL);
}
