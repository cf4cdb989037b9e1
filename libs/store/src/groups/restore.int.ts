import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { addToOutbox } from '../core/outbox';
import { backUpGroupStore } from './backup';
import { ChildPrograms } from './child-programs';
import { groupFixture, sha256, type GroupFixture } from './group-fixture';
import { keptDatabases } from './kept';
import { FILE_NAME, openGroupStore } from './open';
import { restoreGroupStore } from './restore';

const NOW = new Date('2026-01-02T03:04:05.678Z');
const KEPT = `${FILE_NAME}.before-20260102T030405678Z`;

/** Restores in a data folder and dies before the n-th thing it does to a file or a database once it has a copy. */
const MORTAL = `
import fs from 'node:fs';
import Sqlite from 'better-sqlite3';
import { restoreGroupStore } from './restore';
const [home, step] = process.argv.slice(2);
let left = Number(step);
let hasCopy = false;
for (const [owner, names] of [
  [fs, ['fsyncSync', 'linkSync', 'renameSync', 'rmSync']],
  [Sqlite.prototype, ['pragma', 'exec', 'close']],
]) for (const name of names) {
  const real = owner[name];
  owner[name] = function (...given) {
    hasCopy ||= name === 'fsyncSync';
    if (hasCopy && left-- === 0) process.kill(process.pid, 'SIGKILL');
    return real.apply(this, given);
  };
}
restoreGroupStore({ home, from: home + '/backup', now: new Date('${NOW.toISOString()}') });
`;

let fixture: GroupFixture;
let group: string;
/** A group with the message `old`; then a backup; then the message `new`, still in the log. Nobody has it open. */
beforeEach(async () => {
  fixture = await groupFixture();
  group = (await fixture.insert()).id;
  await fixture.append(group, { content: 'old' });
  backUpGroupStore({ home: fixture.home, to: path('backup') });
  await fixture.append(group, { content: 'new' });
  withLogLeft();
});
afterEach(() => fixture.end());

const path = (name: string) => join(fixture.home, name);
const restore = (from = 'backup') =>
  restoreGroupStore({ home: fixture.home, from: path(from), now: NOW });
const names = () => readdirSync(fixture.home).sort();
const contents = async (home = fixture.home) => {
  const store = await openGroupStore({ home, busyMs: 1_000 });
  try {
    const page = await store.read((groups) => groups.historyPage(group, null, 10));
    return page.messages.map(({ content }) => content);
  } finally {
    store.close();
  }
};

/** As a killed process leaves it: what was committed last is in the log alone. */
function withLogLeft(): void {
  const copy = mkdtempSync(join(tmpdir(), 'flowly-log-'));
  cpSync(fixture.home, copy, { recursive: true });
  fixture.store.close();
  cpSync(copy, fixture.home, { recursive: true });
  rmSync(copy, { recursive: true });
  rmSync(`${fixture.file}-shm`);
}

it('puts the backup in place and keeps the old groups, with what was in their log', async () => {
  expect(statSync(`${fixture.file}-wal`).size).toBeGreaterThan(0);
  expect(restore()).toBe(KEPT);
  expect(names()).toEqual(['backup', FILE_NAME, KEPT]);
  expect(keptDatabases(fixture.home)).toEqual([KEPT]);
  expect(statSync(fixture.file).mode & 0o777).toBe(0o600);
  expect(await contents()).toEqual(['old']);
  rmSync(fixture.file);
  cpSync(path(KEPT), fixture.file);
  expect(await contents()).toEqual(['old', 'new']);
});

it('where there are no groups yet, the backup is all', async () => {
  rmSync(fixture.file);
  expect(restore()).toBeNull();
  expect(await contents()).toEqual(['old']);
  // The log belonged to a database that is gone.
  expect(names()).toEqual(['backup', FILE_NAME, `${KEPT}-wal`]);
});

it('begins a new life of the outbox each time, so that nobody takes its rows for known ones', async () => {
  const outbox = async () => {
    fixture.store = await openGroupStore({ home: fixture.home, busyMs: 1_000 });
    const { database } = fixture.store;
    await database.write(() => addToOutbox(database, 'events', 'k', {}));
    fixture.store.close();
    return database.id;
  };
  const ids = [await outbox()];
  restore();
  ids.push(await outbox());
  restoreGroupStore({ home: fixture.home, from: path('backup'), now: new Date() });
  ids.push(await outbox());
  for (const id of ids) expect(id).toMatch(/^groups@/);
  expect(new Set(ids).size).toBe(3);
});

it('refuses while anybody has the groups open, also if nothing is written', async () => {
  fixture.store = await openGroupStore({ home: fixture.home, busyMs: 1_000 });
  expect(restore).toThrow(expect.objectContaining({ code: 'ROOM_STORE_CONFLICT' }));
  expect(keptDatabases(fixture.home)).toEqual([]);
  expect(await contents()).toEqual(['old', 'new']);
});

describe('a backup that is', () => {
  const altered = (alter: (sqlite: Sqlite.Database) => void) => () => {
    const sqlite = new Sqlite(path('backup'));
    alter(sqlite);
    sqlite.close();
  };
  it.each([
    ['no database', () => writeFileSync(path('backup'), 'text '.repeat(2_000))],
    ['of another program', altered((sqlite) => sqlite.pragma('application_id = 7'))],
    ['newer', altered((sqlite) => sqlite.pragma('user_version = 5'))],
    ['damaged', () => overwrite(path('backup'), 4_096 * 3)],
    ['damaged where a copy would not show it', () => overwrite(path('backup'), 36, 4)],
    ['without a column', altered((sqlite) => sqlite.exec('ALTER TABLE rooms DROP COLUMN title'))],
    ['not there', () => rmSync(path('backup'))],
  ])('%s is refused, and nothing is changed', (_, spoil) => {
    spoil();
    const before = names().map((name) => [name, sha256(path(name))]);
    expect(restore).toThrow(expect.objectContaining({ code: 'ROOM_STORE_INVALID' }));
    expect(names().map((name) => [name, sha256(path(name))])).toEqual(before);
  });
});

it('groups that are too damaged to be opened are kept byte for byte, with their log', async () => {
  for (const suffix of ['', '-wal']) overwrite(fixture.file + suffix, 0);
  const hashes = ['', '-wal'].map((suffix) => sha256(fixture.file + suffix));
  expect(restore()).toBe(KEPT);
  expect(['', '-wal'].map((suffix) => sha256(path(KEPT) + suffix))).toEqual(hashes);
  expect(existsSync(`${fixture.file}-wal`)).toBe(false);
  expect(await contents()).toEqual(['old']);
});

it('killed at whatever moment, it leaves the old groups or the new, whole', async () => {
  const program = new ChildPrograms(MORTAL, path('mortal.cjs'));
  const outcomes: string[] = [];
  for (let step = 0, ended = false; !ended; step += 2) {
    const runs = [step, step + 1].map(async (n) => {
      const home = mkdtempSync(join(tmpdir(), 'flowly-kill-'));
      try {
        cpSync(fixture.home, home, { recursive: true });
        const [code] = await once(program.start(home, String(n)), 'exit');
        const found = (await contents(home)).join();
        expect(['old', 'old,new']).toContain(found);
        if (found === 'old') expect(keptDatabases(home)).toEqual([KEPT]);
        await expectGoesAgain(home);
        return { found, ended: code === 0 };
      } finally {
        rmSync(home, { recursive: true });
      }
    });
    for (const run of await Promise.all(runs)) {
      outcomes.push(run.found);
      ended ||= run.ended;
    }
  }
  expect(outcomes.filter((found) => found === 'old,new').length).toBeGreaterThan(5);
  expect(outcomes.filter((found) => found === 'old').length).toBeGreaterThan(1);
}, 30_000);

/** A restore that was killed does not hinder the next one, and each database has one name. */
async function expectGoesAgain(home: string): Promise<void> {
  restoreGroupStore({ home, from: join(home, 'backup'), now: new Date() });
  const databases = [FILE_NAME, ...keptDatabases(home)];
  const inodes = databases.map((name) => statSync(join(home, name)).ino);
  expect(new Set(inodes).size).toBe(databases.length);
  expect(await contents(home)).toEqual(['old']);
  expect(readdirSync(home).filter((name) => name.includes('restoring'))).toEqual([]);
}

function overwrite(file: string, at: number, bytes = 4_096): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(bytes, 0x5a), 0, bytes, at);
  closeSync(handle);
  expect(readFileSync(file).includes('ZZZZ')).toBe(true);
}
