import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { backUpGroupStore, GroupMedia, openGroupStore, restoreGroupStore } from '@flowly/store';
import { sweepFiles } from './sweep';

/** No sweep ever takes a file that a message refers to (store.md §5), whatever became of the database. */

let home: string;
let group: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flowly-sweep-'));
  mkdirSync(join(home, 'media'));
  group = randomUUID();
});
afterEach(() => rmSync(home, { recursive: true }));

const file = () => join(home, 'profile-rooms.sqlite3');
const media = (name: string) => `group-${group.slice(0, 8)}-${name}.pdf`;
const left = () => readdirSync(join(home, 'media')).sort();

function put(name: string, hours = 48): void {
  const path = join(home, 'media', name);
  writeFileSync(path, '');
  const then = new Date(Date.now() - hours * 3_600_000);
  utimesSync(path, then, then);
}

/** What an orchestrator does at its start. */
async function startAndSweep(): Promise<number> {
  const store = await openGroupStore({ home, busyMs: 1_000 });
  try {
    return await sweepFiles({ store, media: new GroupMedia(home) });
  } finally {
    store.close();
  }
}

function write(work: (sqlite: Sqlite.Database) => void): void {
  const sqlite = new Sqlite(file());
  work(sqlite);
  sqlite.close();
}

const payload = (...names: string[]) =>
  JSON.stringify({
    id: randomUUID(),
    role: 'user',
    content: 'see',
    createdAt: 'now',
    attachments: names.map((mediaId) => ({ fileName: 'a', mimeType: 'a/b', mediaId })),
  });

/** Adds a message as another program does: nothing of ours knows of it. */
function refer(seq: number, json: string, trimmed = 0): void {
  write((sqlite) => {
    sqlite
      .prepare(
        `INSERT OR IGNORE INTO rooms(id, title, mode, members_json, watermarks_json, created_at, updated_at, row_revision)
          VALUES (?, 'G', 'panel', '["default"]', '{"default":0}', 'now', 'now', 1)`,
      )
      .run(group);
    sqlite
      .prepare(
        `INSERT INTO room_messages(room_id, seq, message_id, payload_json, trimmed) VALUES (?, ?, ?, ?, ?)`,
      )
      .run(group, seq, `m${seq}`, json, trimmed);
  });
}

const messages = fc.array(
  fc.record({
    files: fc.array(fc.nat(7), { maxLength: 3 }),
    trimmed: fc.boolean(),
    isCut: fc.boolean(),
    isCounted: fc.boolean(),
  }),
  { maxLength: 6 },
);

it('whichever messages there are, in the window or out of it, readable or not', async () => {
  await fc.assert(
    fc.asyncProperty(messages, fc.uniqueArray(fc.nat(7)), async (all, young) => {
      rmSync(home, { recursive: true });
      mkdirSync(join(home, 'media'), { recursive: true });
      (await openGroupStore({ home, busyMs: 1_000 })).close();
      const names = Array.from({ length: 8 }, (_, n) => media(`file-${n}`));
      const nameOf = (n: number) => names[n] ?? '';
      names.forEach((name, n) => put(name, young.includes(n) ? 0 : 48));
      const wanted = new Set(young.map(nameOf));
      for (const [seq, { files, trimmed, isCut, isCounted }] of all.entries()) {
        for (const n of files) wanted.add(nameOf(n));
        const json = payload(...files.map(nameOf));
        // What is out of the window may be unreadable and costs only itself.
        refer(seq, trimmed && isCut ? json.slice(0, -1) : json, trimmed ? 1 : 0);
        if (isCounted)
          write((sqlite) => sqlite.exec('UPDATE room_store_meta SET value = value + 1'));
      }
      expect(await startAndSweep()).toBe(8 - wanted.size);
      expect(left()).toEqual([...wanted].sort());
    }),
    { numRuns: 30 },
  );
}, 20_000);

it('of a database of version 1 that is brought forward at that start', async () => {
  write((sqlite) => {
    sqlite.exec(`
      PRAGMA application_id = ${0x464c5952}; PRAGMA user_version = 1;
      CREATE TABLE room_store_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE rooms(id TEXT PRIMARY KEY, title TEXT NOT NULL, mode TEXT NOT NULL, members_json TEXT NOT NULL,
        watermarks_json TEXT NOT NULL, run_json TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
        row_revision INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE room_messages(room_id TEXT NOT NULL REFERENCES rooms(id) ON DELETE CASCADE, ordinal INTEGER NOT NULL,
        message_id TEXT NOT NULL, payload_json TEXT NOT NULL, PRIMARY KEY (room_id, ordinal),
        UNIQUE (room_id, message_id)) WITHOUT ROWID;
      INSERT INTO room_store_meta VALUES ('revision', '1');
      INSERT INTO rooms VALUES ('${group}', 'G', 'panel', '["default"]', '{"default":0}', NULL, 'now', 'now', 1)`);
    sqlite
      .prepare(`INSERT INTO room_messages VALUES (?, 0, 'm', ?)`)
      .run(group, payload(media('kept')));
  });
  put(media('kept'));
  put(media('stray'));
  expect(await startAndSweep()).toBe(1);
  expect(left()).toEqual([media('kept')]);
});

it('of a database that was restored, nor of the one it has replaced as long as that is kept', async () => {
  (await openGroupStore({ home, busyMs: 1_000 })).close();
  refer(0, payload(media('old')));
  const backup = join(home, 'backup');
  backUpGroupStore({ home, to: backup });
  refer(1, payload(media('new')), 1);
  for (const name of ['old', 'new', 'stray']) put(media(name));
  const kept = restoreGroupStore({ home, from: backup, now: new Date() });

  expect(await startAndSweep()).toBe(1);
  expect(left()).toEqual([media('new'), media('old')]);
  rmSync(join(home, kept ?? 'nothing'));
  expect(await startAndSweep()).toBe(1);
  expect(left()).toEqual([media('old')]);
});

it('takes nothing while a kept database cannot be read', async () => {
  (await openGroupStore({ home, busyMs: 1_000 })).close();
  writeFileSync(`${file()}.before-20260102T030405678Z`, 'text '.repeat(2_000));
  put(media('unknown'));
  await expect(startAndSweep()).rejects.toMatchObject({ code: 'SQLITE_NOTADB' });
  expect(left()).toEqual([media('unknown')]);
});
