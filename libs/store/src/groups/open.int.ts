import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { addToOutbox } from '../core/outbox';
import { AT, type GroupFixture, groupFixture, newMessage, sha256 } from './group-fixture';
import { openGroupStore } from './open';
import { SCHEMA_DDL } from './schema';
import { storedJson } from './stored-json';

const INVALID = { code: 'ROOM_STORE_INVALID', retryable: false };

describe('the file', () => {
  let fixture: GroupFixture;
  beforeEach(async () => void (fixture = await groupFixture()));
  afterEach(() => fixture.end());

  it('is empty at first use, for the owner only (X090)', async () => {
    expect(statSync(fixture.file).mode & 0o777).toBe(0o600);
    expect(fixture.store.revision()).toBe(0);
    expect(await fixture.store.read((groups) => groups.countGroups())).toBe(0);
    fixture.other((sqlite) => {
      expect(sqlite.pragma('application_id', { simple: true })).toBe(1_179_408_722);
      expect(sqlite.pragma('user_version', { simple: true })).toBe(4);
      expect(sqlite.pragma('journal_mode', { simple: true })).toBe('wal');
      expect(sqlite.prepare('SELECT * FROM room_store_meta').all()).toEqual([
        { key: 'revision', value: '0' },
      ]);
    });
  });

  it('has the columns and indexes of schema 4, and ours by name only', () => {
    fixture.other((sqlite) => {
      const columns = (table: string) =>
        sqlite
          .prepare(
            'SELECT name, type, "notnull" AS must, dflt_value AS preset, pk FROM pragma_table_info(?)',
          )
          .all(table);
      expect(columns('rooms').map((column) => Object.values(column ?? {}).join(' '))).toEqual([
        'id TEXT 1  1',
        'title TEXT 1  0',
        'mode TEXT 1  0',
        'members_json TEXT 1  0',
        'watermarks_json TEXT 1  0',
        'run_json TEXT 0  0',
        'created_at TEXT 1  0',
        'updated_at TEXT 1  0',
        'row_revision INTEGER 1  0',
        'next_seq INTEGER 1 0 0',
        'usage_json TEXT 0  0',
        'member_policies_json TEXT 0  0',
      ]);
      expect(
        columns('room_messages').map((column) => Object.values(column ?? {}).join(' ')),
      ).toEqual([
        'room_id TEXT 1  1',
        'seq INTEGER 1  2',
        'message_id TEXT 1  0',
        'payload_json TEXT 1  0',
        'trimmed INTEGER 1 0 0',
      ]);
      const names = sqlite
        .prepare("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
        .pluck()
        .all()
        .filter((name) => !String(name).startsWith('ext_'));
      expect(names).toEqual([
        'room_messages',
        'room_messages_id_idx',
        'room_messages_live_idx',
        'room_store_meta',
        'rooms',
      ]);
      const others = sqlite.prepare(
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' OR (name LIKE 'ext_%' AND tbl_name NOT LIKE 'ext_%')",
      );
      expect(others.pluck().get()).toBe(0);
      const withRowid = sqlite.prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND wr = 0 AND name NOT LIKE 'sqlite_%'",
      );
      expect(withRowid.pluck().all()).toEqual(['ext_outbox']);
    });
  });

  it('holds canonical JSON, with keys of digits in text order', async () => {
    const id = randomUUID();
    await fixture.insert({
      id,
      title: 'Zwölf',
      members: ['9', '10', 'b'],
      policies: { b: 'mentioned' },
    });
    const [message] = await fixture.append(id, {
      content: 'ä\ud800',
      role: 'assistant',
      profile: '9',
    });
    fixture.other((sqlite) => {
      expect(sqlite.prepare('SELECT * FROM rooms').get()).toEqual({
        id,
        title: 'Zwölf',
        mode: 'panel',
        members_json: '["9","10","b"]',
        watermarks_json: '{"10":0,"9":0,"b":0}',
        run_json: null,
        created_at: AT,
        updated_at: AT,
        row_revision: 2,
        next_seq: 1,
        usage_json: null,
        member_policies_json: '{"10":"always","9":"always","b":"mentioned"}',
      });
      expect(sqlite.prepare('SELECT * FROM room_messages').get()).toEqual({
        room_id: id,
        seq: 0,
        message_id: message?.id,
        payload_json: `{"content":"ä\ufffd","createdAt":"${AT}","id":"${message?.id}","profile":"9","role":"assistant"}`,
        trimmed: 0,
      });
    });
  });

  it('opens again with everything in it', async () => {
    const group = await fixture.insert({ mode: 'council' });
    await fixture.append(group.id, { content: 'one' }, { content: 'two' });
    const before = await fixture.find(group.id);
    await fixture.reopen();
    expect(await fixture.find(group.id)).toEqual(before);
    expect(fixture.store.revision()).toBe(3);
  });

  it('has an outbox that nobody takes for that of another database, unless it was used before', async () => {
    const id = () => fixture.store.database.id;
    const first = id();
    expect(first).toMatch(/^groups@/);
    await fixture.reopen();
    expect(id()).toBe(first);
    fixture.store.close();
    rmSync(fixture.file);
    await fixture.reopen();
    expect(id()).not.toBe(first);
    const { database } = fixture.store;
    await database.write(() => addToOutbox(database, 'events', 'k', {}));
    fixture.other((sqlite) => sqlite.exec("DELETE FROM ext_meta WHERE key = 'generation'"));
    await fixture.reopen();
    expect(id()).toBe('groups');
  });

  it('opens without our tables, and counts what another program wrote', async () => {
    const group = await fixture.insert();
    const file = {
      mediaId: 'group-a.pdf',
      fileName: 'a.pdf',
      mimeType: 'a/b',
      kind: 'file',
      status: 'ready',
    };
    fixture.other((sqlite) => {
      const ours = sqlite
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ext_%'")
        .pluck()
        .all();
      for (const table of ours) sqlite.exec(`DROP TABLE ${String(table)}`);
      insertMessages(sqlite, group.id, 125, (seq) => (seq === 124 ? { attachments: [file] } : {}));
    });
    await fixture.reopen();
    expect(await fixture.find(group.id)).toMatchObject({ total: 125, live: 125, nextSeq: 125 });
    fixture.other((sqlite) => {
      expect(sqlite.prepare('SELECT * FROM ext_media').all()).toEqual([
        { media_id: 'group-a.pdf', room_id: group.id },
      ]);
      expect(
        sqlite.prepare("SELECT value FROM room_store_meta WHERE key = 'revision'").pluck().get(),
      ).toBe('1');
    });
  });

  it('notices messages that were put into the stopped database without counting', async () => {
    const group = await fixture.insert();
    await fixture.append(group.id, {}, {});
    fixture.other((sqlite) => insertMessages(sqlite, group.id, 5, () => ({}), 2));
    await fixture.reopen();
    expect(await fixture.find(group.id)).toMatchObject({ total: 7, live: 7, nextSeq: 7 });
  });

  it('reads hand-edited policies, usage and runs leniently (G102)', async () => {
    const { id } = await fixture.insert({ members: ['default', 'reviewer'] });
    const policies = { default: 'always', reviewer: 'always' };
    for (const edited of ['{"default":"whenever"}', '"nonsense"', 'nonsense']) {
      fixture.other((sqlite) =>
        sqlite
          .prepare(
            'UPDATE rooms SET member_policies_json = ?, usage_json = \'{"turns":"x"\', run_json = \'{"state":7}\'',
          )
          .run(edited),
      );
      await fixture.reopen();
      expect(await fixture.find(id)).toMatchObject({ policies, usage: null, run: null });
    }
  });

  it('ignores a run member that is no member', async () => {
    const { id } = await fixture.insert();
    const entry = { state: 'completed', updatedAt: AT, error: '' };
    const run = {
      id: randomUUID(),
      mode: 'panel',
      state: 'completed',
      startedAt: AT,
      finishedAt: AT,
      round: 0,
      turnCount: 0,
      members: { writer: entry, ghost: entry },
    };
    fixture.other((sqlite) => sqlite.prepare('UPDATE rooms SET run_json = ?').run(storedJson(run)));
    await fixture.reopen();
    const group = await fixture.find(id);
    expect(Object.keys(group.run?.members ?? {})).toEqual(['writer']);
    await fixture.store.transaction((groups) => groups.updateGroup(group));
    fixture.other((sqlite) =>
      expect(sqlite.prepare('SELECT run_json FROM rooms').pluck().get()).not.toContain('ghost'),
    );
  });

  it.each([
    ['the revision', "UPDATE room_store_meta SET value = 'soon' WHERE key = 'revision'"],
    ['the revision row', "DELETE FROM room_store_meta WHERE key = 'revision'"],
    ['members', "UPDATE rooms SET members_json = '{}'"],
    ['watermarks', "UPDATE rooms SET watermarks_json = '[0]'"],
    ['a run', "UPDATE rooms SET run_json = 'broken'"],
    ['a message of the window', "UPDATE room_messages SET payload_json = '[1]'"],
    ['the version (newer)', 'PRAGMA user_version = 5'],
    ['the version (older)', 'PRAGMA user_version = 3'],
    ['the application', 'PRAGMA application_id = 7'],
    ['a column', 'ALTER TABLE rooms DROP COLUMN usage_json'],
  ])('is left byte for byte when %s is wrong', async (_what, sql) => {
    const { id } = await fixture.insert();
    await fixture.append(id, {});
    fixture.store.close();
    fixture.other((sqlite) => sqlite.exec(sql));
    const before = sha256(fixture.file);
    await expect(openGroupStore({ home: fixture.home, busyMs: 100 })).rejects.toMatchObject(
      INVALID,
    );
    expect(sha256(fixture.file)).toBe(before);
  });

  it('opens with an unreadable message outside the window, and that page is unavailable', async () => {
    const { id } = await fixture.insert();
    await fixture.append(id, {}, {}, {});
    fixture.other((sqlite) =>
      sqlite.exec("UPDATE room_messages SET payload_json = 'broken', trimmed = 1 WHERE seq = 0"),
    );
    await fixture.reopen();
    const page = (before: number | null, limit: number) =>
      fixture.store.read((groups) => groups.historyPage(id, before, limit));
    expect((await page(null, 2)).messages.map((message) => message.seq)).toEqual([1, 2]);
    await expect(page(1, 2)).rejects.toMatchObject({
      code: 'ROOM_HISTORY_UNAVAILABLE',
      retryable: true,
    });
  });
});

describe('what is no group store', () => {
  let home: string;
  let file: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'flowly-foreign-'));
    file = join(home, 'profile-rooms.sqlite3');
  });
  afterEach(() => rmSync(home, { recursive: true }));
  const open = () => openGroupStore({ home, busyMs: 100 });

  it.each([
    ['an empty file', ''],
    ['a text', 'not a database, but long enough to have a header of its own. '.repeat(20)],
  ])('stays as it is: %s', async (_what, content) => {
    writeFileSync(file, content);
    await expect(open()).rejects.toMatchObject(INVALID);
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it('stays as it is: a damaged file', async () => {
    const made = new Sqlite(file);
    made.exec('PRAGMA application_id = 0x464c5952; PRAGMA user_version = 4;');
    made.exec(SCHEMA_DDL);
    insertGroup(made, 'r');
    insertMessages(made, 'r', 200);
    made.close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, 5 * 4096 + 100, 7 * 4096);
    writeFileSync(file, bytes);
    const before = sha256(file);
    await expect(open()).rejects.toMatchObject(INVALID);
    expect(sha256(file)).toBe(before);
  });

  it('stays as it is: a log that was not yet written into a database of another version', async () => {
    const writer = new Sqlite(join(home, 'source'));
    writer.exec(
      'PRAGMA journal_mode = WAL; PRAGMA application_id = 0x464c5952; PRAGMA user_version = 5;',
    );
    for (const suffix of ['', '-wal']) {
      writeFileSync(file + suffix, readFileSync(join(home, `source${suffix}`)));
    }
    writer.close();
    const before = [sha256(file), sha256(`${file}-wal`)];
    await expect(open()).rejects.toMatchObject(INVALID);
    expect([sha256(file), sha256(`${file}-wal`)]).toEqual(before);
  });

  it('is too large', async () => {
    writeFileSync(file, '');
    truncateSync(file, 2 ** 31 + 1);
    await expect(open()).rejects.toMatchObject({ code: 'ROOM_STORE_LIMIT' });
  });

  it('is a log without its database', async () => {
    writeFileSync(`${file}-wal`, 'somebody’s last messages');
    writeFileSync(join(home, 'profile-rooms.json'), '{"version":1,"rooms":[]}');
    await expect(open()).rejects.toMatchObject(INVALID);
    expect(existsSync(file)).toBe(false);
  });

  it('cannot be made', async () => {
    writeFileSync(join(home, 'no-folder'), '');
    const opening = openGroupStore({ home: join(home, 'no-folder'), busyMs: 100 });
    await expect(opening).rejects.toMatchObject(INVALID);
  });
});

it('is made once by processes that start together', async () => {
  const home = mkdtempSync(join(tmpdir(), 'flowly-together-'));
  const stores = await Promise.all([1, 2, 3].map(() => openGroupStore({ home, busyMs: 2_000 })));
  await Promise.all(
    stores.map((store, index) =>
      store.transaction((groups) =>
        groups.insertGroup({
          id: `group-${index}`,
          title: 't',
          mode: 'panel',
          members: ['a', 'b'],
          policies: {},
          createdAt: AT,
        }),
      ),
    ),
  );
  expect(await stores[0]?.read((groups) => groups.countGroups())).toBe(3);
  expect(stores.map((store) => store.revision())).toEqual([3, 3, 3]);
  for (const store of stores) store.close();
  rmSync(home, { recursive: true });
});

function insertGroup(sqlite: Sqlite.Database, id: string): void {
  sqlite
    .prepare(
      "INSERT INTO rooms VALUES (?, 't', 'panel', '[\"a\",\"b\"]', '{}', NULL, ?, ?, 0, 0, NULL, NULL)",
    )
    .run(id, AT, AT);
}

function insertMessages(
  sqlite: Sqlite.Database,
  groupId: string,
  count: number,
  extra: (seq: number) => object = () => ({}),
  from = 0,
): void {
  const insert = sqlite.prepare(
    'INSERT INTO room_messages(room_id, seq, message_id, payload_json) VALUES (?, ?, ?, ?)',
  );
  for (let seq = from; seq < from + count; seq++) {
    const message = {
      ...newMessage({ content: `message-${seq} ${'x'.repeat(300)}` }),
      ...extra(seq),
    };
    insert.run(groupId, seq, message.id, storedJson(message));
  }
}
