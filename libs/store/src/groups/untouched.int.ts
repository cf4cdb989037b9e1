import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type GroupFixture, groupFixture, sha256 } from './group-fixture';
import { openGroupStore } from './open';

/** A group store that is refused, and its folder, stay as they are to the byte (store.md §2, §3). */
const SUFFIXES = ['', '-wal', '-shm'];

let fixture: GroupFixture;
let home: string;
let file: string;
beforeEach(async () => {
  fixture = await groupFixture();
  const { id } = await fixture.insert();
  const content = 'x'.repeat(2_000);
  await fixture.append(id, ...Array.from({ length: 10 }, () => ({ content })));
  home = mkdtempSync(join(tmpdir(), 'flowly-untouched-'));
  file = join(home, 'profile-rooms.sqlite3');
});
afterEach(() => {
  fixture.end();
  rmSync(home, { recursive: true });
});

/** The store as a process leaves it that ends in good order. */
function closedStore(): void {
  fixture.store.close();
  copyFileSync(fixture.file, file);
}

/** The store as a process leaves it that is killed: its commits are in the log. */
function killedStore(sql: string): void {
  fixture.store.database.exec(sql);
  for (const suffix of SUFFIXES) copyFileSync(fixture.file + suffix, file + suffix);
}

function edit(work: (sqlite: Sqlite.Database) => unknown): void {
  const sqlite = new Sqlite(file);
  work(sqlite);
  sqlite.close();
}

/** Every name in the folder with what a reader can see of it. */
function everything(): string[] {
  return readdirSync(home)
    .sort()
    .map((name) => {
      const { ino, size, mtimeMs, mode } = statSync(join(home, name));
      const content = statSync(join(home, name)).isFile() ? sha256(join(home, name)) : 'folder';
      return [name, ino, size, mtimeMs, mode, content].join(' ');
    });
}

async function expectRefused(): Promise<void> {
  const before = everything();
  await expect(openGroupStore({ home, busyMs: 100 })).rejects.toMatchObject({
    code: 'ROOM_STORE_INVALID',
    retryable: false,
  });
  expect(everything()).toEqual(before);
}

it('is in the mode of its log before any of this', () => {
  closedStore();
  edit((sqlite) => expect(sqlite.pragma('journal_mode', { simple: true })).toBe('wal'));
});

it.each([
  ['a newer version', 'PRAGMA user_version = 5'],
  ['another application', 'PRAGMA application_id = 7'],
  ['a broken record', "UPDATE rooms SET members_json = '{}'"],
])('with %s', async (_what, sql) => {
  closedStore();
  edit((sqlite) => sqlite.exec(sql));
  await expectRefused();
});

it.each([
  ['a newer version', 'PRAGMA user_version = 5'],
  ['a broken record', "UPDATE rooms SET members_json = '{}'"],
])('with %s that is still in its log', async (_what, sql) => {
  killedStore(sql);
  await expectRefused();
});

it('with a damaged page', async () => {
  closedStore();
  const bytes = readFileSync(file);
  bytes.fill(0xff, bytes.length - 2 * 4096, bytes.length - 4096);
  writeFileSync(file, bytes);
  await expectRefused();
});

it('with its end cut off', async () => {
  closedStore();
  writeFileSync(file, readFileSync(file).subarray(0, -4096));
  await expectRefused();
});

it('as a text', async () => {
  writeFileSync(file, 'a text in its place '.repeat(1_000));
  await expectRefused();
});

it('as a folder', async () => {
  mkdirSync(file);
  await expectRefused();
});

it('that nobody may read', async () => {
  closedStore();
  chmodSync(file, 0);
  await asUser(async () => {
    const opening = openGroupStore({ home, busyMs: 100 });
    await expect(opening).rejects.toMatchObject({ code: 'ROOM_STORE_INVALID' });
  });
  expect([readdirSync(home), statSync(file).mode & 0o777]).toEqual([['profile-rooms.sqlite3'], 0]);
});

it('while a good one that a killed process left is opened, with all that is in its log', async () => {
  killedStore("UPDATE rooms SET title = 'In the log'");
  const store = await openGroupStore({ home, busyMs: 100 });
  const [group] = await store.read((groups) => groups.listGroups());
  expect(group).toMatchObject({ title: 'In the log', total: 10 });
  store.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(readdirSync(home)).toEqual(['profile-rooms.sqlite3']);
});

const NOBODY = 65_534;

/** A superuser may read everything, so it does this as somebody else whose the folder and the file are. */
async function asUser(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work();
  for (const owned of [home, file]) chownSync(owned, NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}
