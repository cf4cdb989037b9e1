import Sqlite from 'better-sqlite3';
import { storedJson } from './stored-json';

/** Test code: group databases of every version, by the tables of store.md §1 and §2, with content in all of them. */

export type OldVersion = 1 | 2 | 3 | 4;
export type Row = Record<string, unknown>;

/** All that Flowly's tables hold, as the newest version would hold it. */
export interface Content {
  meta: Row[];
  rooms: Row[];
  messages: Row[];
}

const APPLICATION_ID = 0x464c5952;
const AT = '2026-01-02T03:04:05.678Z';
export const COUNCIL = '55fc1b75-0b89-47e6-8974-504eef89249c';
export const EMPTY = '0b54c3b4-2f0b-4b40-9a35-5f3a0d9a2f11';
export const LONG = 'f0c7e7a2-6a1f-4a58-8d0e-6f0f0a8f1c55';

function ddl(version: OldVersion): string {
  const from = (least: OldVersion, column: string) => (version >= least ? `, ${column}` : '');
  const place = version === 1 ? 'ordinal' : 'seq';
  const indexes = `CREATE INDEX room_messages_id_idx ON room_messages(message_id);
    CREATE INDEX room_messages_live_idx ON room_messages(room_id, trimmed, seq);`;
  return `
    CREATE TABLE room_store_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE rooms(id TEXT PRIMARY KEY, title TEXT NOT NULL, mode TEXT NOT NULL, members_json TEXT NOT NULL,
      watermarks_json TEXT NOT NULL, run_json TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
      row_revision INTEGER NOT NULL${from(2, 'next_seq INTEGER NOT NULL DEFAULT 0')}
      ${from(3, 'usage_json TEXT')}${from(4, 'member_policies_json TEXT')}) WITHOUT ROWID;
    CREATE TABLE room_messages(room_id TEXT NOT NULL REFERENCES rooms(id) ON DELETE CASCADE,
      ${place} INTEGER NOT NULL, message_id TEXT NOT NULL, payload_json TEXT NOT NULL
      ${from(2, 'trimmed INTEGER NOT NULL DEFAULT 0')}, PRIMARY KEY (room_id, ${place}),
      UNIQUE (room_id, message_id)) WITHOUT ROWID;
    ${version === 1 ? '' : indexes}`;
}

/** What the newest version holds of a database that was made with this version. */
export function contentOf(version: OldVersion): Content {
  return {
    meta: [
      { key: 'last_vacuum', value: '1767323045.25' },
      { key: 'legacy_sha256', value: 'ab'.repeat(32) },
      { key: 'revision', value: '41' },
    ],
    rooms: groupRows().map((row) => withDefaults(version, row)),
    messages: messageRows().map((row) => ({ ...row, trimmed: version === 1 ? 0 : row.trimmed })),
  };
}

/** An older version knows less of a group. */
function withDefaults(version: OldVersion, row: ReturnType<typeof groupRows>[number]): Row {
  return {
    ...row,
    // Version 1 counts no further than what is stored.
    next_seq: version === 1 ? row.highest + 1 : row.next_seq,
    usage_json: version < 3 ? null : row.usage_json,
    member_policies_json: version < 4 ? null : row.member_policies_json,
    highest: undefined,
  };
}

function groupRows() {
  const entry = { state: 'completed', updatedAt: AT, error: '', boundary: 2, gatewayRunId: 'r-1' };
  const run = {
    id: COUNCIL,
    mode: 'council',
    state: 'partial',
    startedAt: AT,
    finishedAt: AT,
    round: 1,
    turnCount: 2,
    members: { '9': entry, b: { ...entry, state: 'failed', error: 'Nothing came, leider 🦊.' } },
  };
  const counters = { inputTokens: 9, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 0 };
  const usage = { turns: 1, ...counters, members: { '9': { calls: 1, model: 'm', ...counters } } };
  const row = { mode: 'panel', run_json: null, created_at: AT, updated_at: AT };
  return [
    {
      ...row,
      id: COUNCIL,
      title: 'Zwölf 🦊',
      mode: 'council',
      members_json: '["9","10","b"]',
      watermarks_json: '{"10":1,"9":2,"b":0}',
      run_json: storedJson(run),
      updated_at: '2026-02-02T03:04:05.678Z',
      row_revision: 41,
      next_seq: 12,
      highest: 7,
      usage_json: storedJson(usage),
      member_policies_json: '{"10":"always","9":"mentioned","b":"always"}',
    },
    {
      ...row,
      id: EMPTY,
      title: 'Nothing said',
      members_json: '["default","gone"]',
      watermarks_json: '{"default":0,"gone":0}',
      row_revision: 2,
      next_seq: 0,
      highest: -1,
      usage_json: null,
      member_policies_json: '{"default":"always","gone":"always"}',
    },
    {
      ...row,
      id: LONG,
      title: 'Long',
      members_json: '["default","writer"]',
      watermarks_json: '{"default":38,"writer":36}',
      row_revision: 39,
      next_seq: 40,
      highest: 39,
      usage_json: null,
      member_policies_json: null,
    },
  ].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function messageRows() {
  const file = { fileName: 'b.pdf', mimeType: 'a/b', kind: 'file', status: 'ready' };
  const call = { id: 'c', name: 'exec', argumentsJson: '{"command":"ls"}' };
  const said = [
    { seq: 3, role: 'user', content: 'Grüße\n"an" alle', attachments: [file] },
    { seq: 4, role: 'assistant', content: 'hm', profile: '9', toolCalls: [call], durationMs: 12.5 },
    { seq: 7, role: 'assistant', content: '', profile: 'b', aborted: true },
  ];
  const long = Array.from({ length: 40 }, (_, seq) => ({
    seq,
    role: 'user',
    content: `m${seq} ${'x'.repeat(300)}`,
  }));
  const rows = (roomId: string, messages: readonly { seq: number }[], left: number) =>
    messages.map(({ seq, ...message }, index) => ({
      room_id: roomId,
      seq,
      message_id: `msg-${seq}`,
      payload_json: storedJson({ id: `msg-${seq}`, createdAt: AT, ...message }),
      trimmed: index < left ? 1 : 0,
    }));
  return [...rows(COUNCIL, said, 1), ...rows(LONG, long, 2)];
}

/** Makes a database of a version, with or without a write-ahead log. */
export function writeOldStore(file: string, version: OldVersion, journal: 'wal' | 'delete'): void {
  const sqlite = new Sqlite(file);
  sqlite.exec(`PRAGMA synchronous = OFF; PRAGMA journal_mode = ${journal};
    PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
  sqlite.transaction(() => {
    sqlite.exec(ddl(version));
    const { meta, rooms, messages } = contentOf(version);
    insertRows(sqlite, 'room_store_meta', meta);
    insertRows(sqlite, 'rooms', rooms);
    insertRows(
      sqlite,
      'room_messages',
      messages.map((row) => ({ ...row, ordinal: row['seq'] })),
    );
  })();
  sqlite.close();
}

/** Only what the version has columns for. */
function insertRows(sqlite: Sqlite.Database, table: string, rows: readonly Row[]): void {
  const columns = columnsOf(sqlite, table);
  const places = columns.map((column) => `@${column}`).join(', ');
  const insert = sqlite.prepare(`INSERT INTO ${table}(${columns.join(', ')}) VALUES (${places})`);
  for (const row of rows) insert.run(row);
}

export function columnsOf(sqlite: Sqlite.Database, table: string): string[] {
  return sqlite.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table).map(String);
}

/**
 * The version of a database and all it holds, as the newest version would hold it.
 * @throws Error when the file is not whole, or its tables are not those of its version
 */
export function readStore(file: string): { version: OldVersion; content: Content } {
  const sqlite = new Sqlite(file, { fileMustExist: true });
  try {
    return sqlite.transaction(() => wholeStore(sqlite))();
  } finally {
    sqlite.close();
  }
}

function wholeStore(sqlite: Sqlite.Database): { version: OldVersion; content: Content } {
  const version = knownVersion(sqlite.pragma('user_version', { simple: true }));
  const check = sqlite.pragma('quick_check(1)', { simple: true });
  if (check !== 'ok') throw new Error(`The file is damaged: ${String(check)}`);
  const expected = new Sqlite(':memory:');
  expected.exec(ddl(version));
  for (const table of ['room_store_meta', 'rooms', 'room_messages']) {
    const [found, wanted] = [sqlite, expected].map((each) => columnsOf(each, table).join());
    if (found !== wanted) throw new Error(`Version ${version} has ${table}(${found}).`);
  }
  const indexes = (each: Sqlite.Database) =>
    each.prepare("SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY name").pluck().all();
  for (const index of indexes(expected)) {
    if (!indexes(sqlite).includes(index)) throw new Error(`Version ${version} lacks an index.`);
  }
  expected.close();
  const all = (sql: string) => sqlite.prepare<[], Row>(sql).all();
  const place = version === 1 ? 'ordinal' : 'seq';
  const messages = all(`SELECT * FROM room_messages ORDER BY room_id, ${place}`);
  const content: Content = {
    meta: all('SELECT * FROM room_store_meta ORDER BY key'),
    rooms: all('SELECT * FROM rooms ORDER BY id'),
    messages: messages.map(({ ordinal, ...row }) => ({ seq: ordinal, trimmed: 0, ...row })),
  };
  const nextSeq = ({ id }: Row) =>
    content.messages
      .filter((message) => message['room_id'] === id)
      .reduce((next, { seq }) => Math.max(next, Number(seq) + 1), 0);
  const rooms = content.rooms.map((room) => ({
    next_seq: nextSeq(room),
    usage_json: null,
    member_policies_json: null,
    ...room,
  }));
  return { version, content: { ...content, rooms } };
}

function knownVersion(value: unknown): OldVersion {
  if (value === 1 || value === 2 || value === 3 || value === 4) return value;
  throw new Error(`There is no version ${String(value)}.`);
}
