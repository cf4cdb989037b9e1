import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { onEveryStep } from './every-step';
import { AT, newMessage, sha256 } from './group-fixture';
import type { GroupStore } from './group-store';
import {
  COUNCIL,
  contentOf,
  EMPTY,
  type OldVersion,
  readStore,
  writeOldStore,
} from './old-store-fixture';
import { openGroupStore } from './open';
import { buildStore } from './schema';

const INVALID = { code: 'ROOM_STORE_INVALID' };
const VERSIONS: readonly OldVersion[] = [1, 2, 3, 4];

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flowly-versions-'));
  file = join(home, 'profile-rooms.sqlite3');
});
afterEach(() => rmSync(home, { recursive: true }));

const open = (busyMs = 100) => openGroupStore({ home, busyMs });

/** Opens, works, closes. */
async function withStore<T>(work: (store: GroupStore) => T | Promise<T>): Promise<T> {
  const store = await open();
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

/** Another program's connection. */
function other<T>(work: (sqlite: Sqlite.Database) => T): T {
  const sqlite = new Sqlite(file);
  try {
    sqlite.pragma('synchronous = OFF');
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

/** Tables, columns and indexes, as SQLite understands them. */
function shapeOf(sqlite: Sqlite.Database): unknown {
  const all = (sql: string) => sqlite.prepare(sql).all();
  const tables = ['room_store_meta', 'rooms', 'room_messages'];
  return tables.map((table) => ({
    kind: all(`SELECT wr, strict FROM pragma_table_list WHERE name = '${table}'`),
    columns: all(`SELECT * FROM pragma_table_info('${table}')`),
    references: all(`SELECT * FROM pragma_foreign_key_list('${table}')`),
    indexes:
      all(`SELECT list.name, "unique", origin, info.* FROM pragma_index_list('${table}') AS list,
      pragma_index_info(list.name) AS info ORDER BY list.name, info.seqno`),
  }));
}

describe.each(VERSIONS)('a database of version %i', (version) => {
  it.each(['wal', 'delete'] as const)('opens with every value (%s)', async (journal) => {
    writeOldStore(file, version, journal);
    expect(readStore(file)).toEqual({ version, content: contentOf(version) });
    await withStore((store) => expect(store.revision()).toBe(41));
    expect(readStore(file)).toEqual({ version: 4, content: contentOf(version) });
    other((sqlite) => {
      const fresh = new Sqlite(':memory:');
      buildStore(fresh);
      expect(shapeOf(sqlite)).toEqual(shapeOf(fresh));
      expect(sqlite.pragma('journal_mode', { simple: true })).toBe('wal');
    });
  });

  it('is read and goes on', async () => {
    writeOldStore(file, version, 'wal');
    await withStore(async (store) => {
      const group = await store.transaction((groups) => {
        const found = groups.findGroup(COUNCIL);
        if (!found) throw new Error('The group is there.');
        return groups.updateGroup(groups.appendMessage(found, newMessage()).group);
      });
      expect(group).toMatchObject({
        title: 'Zwölf 🦊',
        members: ['9', '10', 'b'],
        rowRevision: 42,
      });
      expect(group.run).toMatchObject({ state: 'partial', members: { '9': { boundary: 2 } } });
      expect(group.usage).toEqual(version < 3 ? null : expect.objectContaining({ turns: 1 }));
      expect(group.policies['9']).toBe(version < 4 ? 'always' : 'mentioned');
      const page = await store.read((groups) => groups.historyPage(COUNCIL, null, 10));
      expect(page.messages.map(({ seq }) => seq)).toEqual([3, 4, 7, version === 1 ? 8 : 12]);
      expect(page.messages[0]).toMatchObject({ id: 'msg-3', content: 'Grüße\n"an" alle' });
      expect(await store.read((groups) => groups.findGroup(EMPTY)?.members)).toContain('gone');
    });
  });

  it.each([
    ['the revision', "UPDATE room_store_meta SET value = 'soon' WHERE key = 'revision'"],
    ['members', "UPDATE rooms SET members_json = '{}'"],
    ['a run', "UPDATE rooms SET run_json = 'broken'"],
    ['a message of the window', "UPDATE room_messages SET payload_json = '[1]'"],
    ['a column', 'ALTER TABLE rooms DROP COLUMN run_json'],
    ['the version', 'PRAGMA user_version = 5'],
  ])('is left byte for byte when %s is wrong', async (_what, sql) => {
    writeOldStore(file, version, 'delete');
    other((sqlite) => sqlite.exec(sql));
    const before = sha256(file);
    await expect(open()).rejects.toMatchObject(INVALID);
    expect(sha256(file)).toBe(before);
    expect(readdirSync(home)).toEqual(['profile-rooms.sqlite3']);
  });
});

it('a column of a later version makes it another version', async () => {
  writeOldStore(file, 3, 'wal');
  other((sqlite) => sqlite.exec('ALTER TABLE rooms ADD COLUMN member_policies_json TEXT'));
  const before = sha256(file);
  await expect(open()).rejects.toMatchObject(INVALID);
  expect(sha256(file)).toBe(before);
});

it('an old version without its indexes gets them', async () => {
  writeOldStore(file, 3, 'wal');
  other((sqlite) => sqlite.exec('DROP INDEX room_messages_live_idx'));
  await withStore(() => undefined);
  expect(readStore(file)).toEqual({ version: 4, content: contentOf(3) });
});

it('an unreadable message outside of the window keeps no old version closed', async () => {
  writeOldStore(file, 2, 'wal');
  other((sqlite) => sqlite.exec("UPDATE room_messages SET payload_json = 'x' WHERE trimmed = 1"));
  await withStore(async (store) => {
    const page = store.read((groups) => groups.historyPage(COUNCIL, null, 10));
    await expect(page).rejects.toMatchObject({ code: 'ROOM_HISTORY_UNAVAILABLE' });
  });
});

it('G039: version 1 with revision 3 and three messages', async () => {
  other((sqlite) => {
    sqlite.exec(`PRAGMA application_id = 0x464c5952; PRAGMA user_version = 1;
      CREATE TABLE room_store_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE rooms(id TEXT PRIMARY KEY, title TEXT NOT NULL, mode TEXT NOT NULL, members_json TEXT NOT NULL,
        watermarks_json TEXT NOT NULL, run_json TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
        row_revision INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE room_messages(room_id TEXT NOT NULL REFERENCES rooms(id) ON DELETE CASCADE,
        ordinal INTEGER NOT NULL, message_id TEXT NOT NULL, payload_json TEXT NOT NULL,
        PRIMARY KEY (room_id, ordinal), UNIQUE (room_id, message_id)) WITHOUT ROWID;
      INSERT INTO room_store_meta VALUES ('revision', '3');
      INSERT INTO rooms VALUES ('${COUNCIL}', 'Old', 'panel', '["default","writer"]',
        '{"default":0,"writer":0}', NULL, '${AT}', '${AT}', 3);`);
    for (const n of [0, 1, 2]) {
      const payload = { id: `msg-${n}`, role: 'user', content: `m${n}`, createdAt: AT };
      sqlite
        .prepare('INSERT INTO room_messages VALUES (?, ?, ?, ?)')
        .run(COUNCIL, n, payload.id, JSON.stringify(payload));
    }
  });
  await withStore(async (store) => {
    expect(store.revision()).toBe(3);
    const group = await store.read((groups) => groups.findGroup(COUNCIL));
    expect(group).toMatchObject({ nextSeq: 3, total: 3, live: 3 });
    const { messages } = await store.read((groups) => groups.historyPage(COUNCIL, null, 10));
    expect(messages.map(({ seq, content }) => [seq, content])).toEqual([
      [0, 'm0'],
      [1, 'm1'],
      [2, 'm2'],
    ]);
  });
  expect(other((sqlite) => sqlite.pragma('user_version', { simple: true }))).toBe(4);
});

it('G040: a store of ours without the columns that version 2 lacks', async () => {
  await withStore((store) =>
    store.transaction((groups) =>
      groups.insertGroup({
        id: COUNCIL,
        title: 'Old',
        mode: 'panel',
        members: ['default'],
        policies: {},
        createdAt: AT,
      }),
    ),
  );
  other((sqlite) =>
    sqlite.exec(`ALTER TABLE rooms DROP COLUMN member_policies_json;
      ALTER TABLE rooms DROP COLUMN usage_json; PRAGMA user_version = 2;`),
  );
  await withStore(async (store) => {
    const group = await store.read((groups) => groups.findGroup(COUNCIL));
    expect(group).toMatchObject({ title: 'Old', members: ['default'], usage: null });
  });
  const { version, content } = readStore(file);
  expect(version).toBe(4);
  expect(content.rooms).toMatchObject([{ usage_json: null, member_policies_json: null }]);
});

it('waits for another process longer than a command does, and the event loop goes on', async () => {
  writeOldStore(file, 1, 'wal');
  const writer = new Sqlite(file);
  writer.exec('BEGIN IMMEDIATE; UPDATE rooms SET row_revision = row_revision + 1');
  let isOpen = false;
  // Both find version 1; who is second must not take a step again.
  const opening = [open(50), open(50)].map((store) => store.finally(() => (isOpen = true)));
  for (let turns = 0; turns < 50; turns++) await delay(5);
  expect(isOpen).toBe(false);
  writer.exec('ROLLBACK');
  writer.close();
  for (const store of await Promise.all(opening)) store.close();
  expect(readStore(file)).toEqual({ version: 4, content: contentOf(1) });
});

it('is looked at as it was in one moment, while another process brings it on', async () => {
  writeOldStore(file, 2, 'wal');
  const ahead = new Sqlite(file);
  const steps = [
    'ALTER TABLE rooms ADD COLUMN usage_json TEXT; PRAGMA user_version = 3',
    'ALTER TABLE rooms ADD COLUMN member_policies_json TEXT; PRAGMA user_version = 4',
  ];
  let isLooking = true;
  const stop = onEveryStep({
    before: (step) => {
      if (step === 'BEGIN IMMEDIATE') isLooking = false;
    },
    after: (step) => {
      if (isLooking && step === 'PRAGMA user_version') ahead.exec(steps.shift() ?? '');
    },
  });
  const store = await open().finally(stop);
  expect(steps).toHaveLength(1);
  store.close();
  ahead.close();
  expect(readStore(file)).toEqual({ version: 4, content: contentOf(2) });
});

it.each([1, 4] as const)('waits for readers to turn on the log of version %i', async (version) => {
  writeOldStore(file, version, 'delete');
  const reader = new Sqlite(file);
  reader.exec('BEGIN; SELECT * FROM rooms');
  const opening = open(2_000);
  await delay(100);
  reader.close();
  (await opening).close();
  expect(readStore(file)).toEqual({ version: 4, content: contentOf(version) });
});

it('a reader that stays is a conflict, and nothing is changed', async () => {
  writeOldStore(file, 4, 'delete');
  const before = sha256(file);
  const reader = new Sqlite(file);
  reader.exec('BEGIN; SELECT * FROM rooms');
  await expect(open(50)).rejects.toMatchObject({ code: 'ROOM_STORE_CONFLICT', retryable: true });
  reader.close();
  expect(sha256(file)).toBe(before);
});

it('a step that fails leaves the whole version before it', async () => {
  writeOldStore(file, 1, 'wal');
  other((sqlite) => sqlite.exec('CREATE TABLE room_messages_live_idx(in_the_way)'));
  await expect(open()).rejects.toMatchObject(INVALID);
  expect(readStore(file)).toEqual({ version: 1, content: contentOf(1) });
  other((sqlite) => sqlite.exec('DROP TABLE room_messages_live_idx'));
  await withStore(() => undefined);
  expect(readStore(file)).toEqual({ version: 4, content: contentOf(1) });
});

it.each([1, 4] as const)(
  'takes back what a writer of version %i had half written',
  async (version) => {
    writeOldStore(file, version, 'delete');
    const writer = `
    const sqlite = require('better-sqlite3')(process.argv[1]);
    sqlite.pragma('cache_size = 1');
    sqlite.exec("BEGIN; UPDATE room_messages SET payload_json = hex(zeroblob(4000))");
    process.kill(process.pid, 'SIGKILL');`;
    expect(() => execFileSync(process.execPath, ['-e', writer, file])).toThrow();
    expect(readdirSync(home)).toContain('profile-rooms.sqlite3-journal');
    await withStore(() => undefined);
    expect(readStore(file)).toEqual({ version: 4, content: contentOf(version) });
  },
);
