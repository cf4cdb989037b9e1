import { copyFileSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ClosedStore } from './closed-store';
import { type GroupFixture, groupFixture } from './group-fixture';

let fixture: GroupFixture;
let home: string;
let file: string;
beforeEach(async () => {
  fixture = await groupFixture();
  await fixture.insert({ title: 'Kept' });
  fixture.store.close();
  home = mkdtempSync(join(tmpdir(), 'flowly-closed-'));
  file = join(home, 'profile-rooms.sqlite3');
});
afterEach(() => {
  fixture.end();
  rmSync(home, { recursive: true });
});

const open = (busyMs = 100) => ClosedStore.open({ home, busyMs });

async function closed(): Promise<ClosedStore> {
  const store = await open();
  if (store instanceof ClosedStore) return store;
  store.close();
  throw new Error('The store could be opened.');
}

async function titlesOf(store: ClosedStore): Promise<string[] | null> {
  const opened = await store.reopen();
  const groups = await opened?.read((reader) => reader.listGroups());
  opened?.close();
  return groups?.map(({ title }) => title) ?? null;
}

it('stays closed with the same reason, unread, until somebody touches the file', async () => {
  writeFileSync(file, 'a text in its place '.repeat(1_000));
  const store = await closed();
  const first = store.refusal;
  expect(first).toMatchObject({ code: 'ROOM_STORE_INVALID', retryable: false });
  expect([await store.reopen(), store.refusal]).toEqual([null, first]);
  expect(store.refusal).toBe(first);
  utimesSync(file, 1, 1);
  expect(await store.reopen()).toBeNull();
  expect(store.refusal).not.toBe(first);
});

it('opens when the file is mended in its place', async () => {
  const version = (value: number) => {
    const sqlite = new Sqlite(file);
    sqlite.pragma(`user_version = ${value}`);
    sqlite.close();
  };
  copyFileSync(fixture.file, file);
  version(5);
  const store = await closed();
  version(4);
  expect(await titlesOf(store)).toEqual(['Kept']);
});

it('opens when another file is put in its place, and tells the reason of each that is none', async () => {
  writeFileSync(file, 'a text');
  const store = await closed();
  copyFileSync(fixture.file, `${file}.good`);
  const sqlite = new Sqlite(fixture.file);
  sqlite.pragma('application_id = 7');
  sqlite.close();
  renameSync(fixture.file, file);
  expect(await titlesOf(store)).toBeNull();
  expect(store.refusal.message).toBe('The file is no group store.');
  renameSync(`${file}.good`, file);
  expect(await titlesOf(store)).toEqual(['Kept']);
});

it('is made anew when a person takes the damaged file away', async () => {
  writeFileSync(file, 'a text');
  const store = await closed();
  rmSync(file);
  expect(await titlesOf(store)).toEqual([]);
});

it('is not closed but busy while another process holds it', async () => {
  copyFileSync(fixture.file, file);
  const other = new Sqlite(file);
  other.exec('BEGIN EXCLUSIVE');
  await expect(open(50)).rejects.toMatchObject({ code: 'ROOM_STORE_CONFLICT' });
  other.close();
  const store = await open();
  expect(store).not.toBeInstanceOf(ClosedStore);
  if (!(store instanceof ClosedStore)) store.close();
});
