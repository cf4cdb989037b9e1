import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { openGroupStore, type GroupStore } from '@flowly/store';
import { fillGroups } from '../group-fixture';
import { now } from '../now';
import { spreadOf } from '../numbers';
import type { Row } from '../row';

/** The group database by itself, in this process: no service, no Redis. */
export async function measureStore(quick: boolean, say: (line: string) => void): Promise<Row[]> {
  say('The store: commits …');
  const commits = await inFolder((home) => measureCommits(home, quick ? 2_000 : 10_000));
  say('The store: a million messages …');
  const pages = await inFolder((home) => measurePages(home, quick ? 500 : 3_000));
  say('The store: a gigabyte …');
  const opening = await inFolder((home) => measureOpening(home, quick ? 2 : 5));
  return [commits, pages, ...opening];
}

const BUSY_MS = 5_000;
const BOTS = ['s1', 's2'];
const AT = '2026-01-01T00:00:00.000Z';
const TEXT = 'x'.repeat(120);

/** In one sample: a single commit is too short. */
const COMMITS = 100;

/** Beside the least that can be done: one row in one commit that waits for the disk. */
async function measureCommits(home: string, count: number): Promise<Row> {
  const store = await open(home);
  const id = randomUUID();
  const group = { id, title: 'Commits', mode: 'panel' as const, members: BOTS, policies: {} };
  await store.transaction((groups) => groups.insertGroup({ ...group, createdAt: AT }));
  const least = new Sqlite(path.join(home, 'least.sqlite3'));
  least.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t(text TEXT)');
  const insert = least.prepare('INSERT INTO t VALUES (?)');
  const floor: number[] = [];
  const ours: number[] = [];
  for (let done = 0; done < count; done += COMMITS) {
    floor.push(
      await timeOf(COMMITS, () => void least.transaction(() => insert.run(TEXT)).immediate()),
    );
    ours.push(await timeOf(COMMITS, () => commit(store, id)));
  }
  least.close();
  store.close();
  const rate = Math.round((1_000 * ours.length) / ours.reduce((sum, ms) => sum + ms, 0));
  const measure = `store: commit of one message (${rate} a second)`;
  return { measure, floor: spreadOf(floor), ours: spreadOf(ours), target: { p50: 0.5 } };
}

function commit(store: GroupStore, groupId: string): Promise<void> {
  return store.transaction((groups) => {
    const group = groups.findGroup(groupId);
    if (!group) throw new Error('The group is gone.');
    const message = { id: randomUUID(), role: 'user' as const, content: TEXT, createdAt: AT };
    groups.updateGroup(groups.appendMessage(group, message).group);
  });
}

const MILLION = 1_000_000;
const PAGE = 50;

async function measurePages(home: string, count: number): Promise<Row> {
  const id = randomUUID();
  await fillGroups(home, [{ id, title: 'Long', members: BOTS, messages: MILLION }]);
  const store = await open(home);
  const times: number[] = [];
  for (let done = 0; done < count; done++) {
    const before = 1 + Math.floor(Math.random() * MILLION);
    const read = () => store.read((groups) => groups.historyPage(id, before, PAGE));
    times.push(await timeOf(1, read));
  }
  store.close();
  const measure = `store: history page of ${PAGE} anywhere in ${MILLION} messages`;
  return { measure, floor: null, ours: spreadOf(times), target: { p50: 5, p99: 5 } };
}

/** As many groups as there may be, their windows as heavy as they may be. */
const GIGABYTE = { groups: 200, messages: 1_000, length: 1_900 };

/** Beside SQLite's own check of the same file, which is part of it. */
async function measureOpening(home: string, count: number): Promise<Row[]> {
  const { groups, ...each } = GIGABYTE;
  const filled = Array.from({ length: groups }, (_, index) => ({
    ...each,
    id: randomUUID(),
    title: `Group ${index}`,
    members: BOTS,
  }));
  await fillGroups(home, filled);
  const file = path.join(home, 'profile-rooms.sqlite3');
  const checks: number[] = [];
  const again: number[] = [];
  const first: number[] = [];
  for (let done = 0; done < count; done++) {
    checks.push(await timeOf(1, () => quickCheck(file)));
    again.push(await timeOf(1, async () => (await open(home)).close()));
    forget(file);
    first.push(await timeOf(1, async () => (await open(home)).close()));
  }
  const size = (statSync(file).size / 1e9).toFixed(2);
  const row = (what: string, ours: number[]): Row => ({
    measure: `store: opening ${size} GB, ${what} (floor: its quick_check)`,
    floor: spreadOf(checks),
    ours: spreadOf(ours),
    target: { p50: 3_000, overFloor: true },
  });
  return [row('written by us', again), row('written by another program', first)];
}

/** What another program does not know: it is made anew. */
function forget(file: string): void {
  const sqlite = new Sqlite(file);
  sqlite.exec('DELETE FROM ext_groups; DELETE FROM ext_media');
  sqlite.close();
}

function quickCheck(file: string): void {
  const sqlite = new Sqlite(file, { readonly: true });
  const found = sqlite.pragma('quick_check(1)', { simple: true });
  sqlite.close();
  if (found !== 'ok') throw new Error(`quick_check says: ${String(found)}`);
}

function open(home: string): Promise<GroupStore> {
  return openGroupStore({ home, busyMs: BUSY_MS });
}

/** Mean ms of so many in a row. */
async function timeOf(times: number, work: () => unknown): Promise<number> {
  const begun = now();
  for (let done = 0; done < times; done++) await work();
  return (now() - begun) / times;
}

async function inFolder<T>(measure: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(path.join(os.tmpdir(), 'flowly-bench-store-'));
  try {
    return await measure(home);
  } finally {
    rmSync(home, { recursive: true });
  }
}
