import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreOpener, stepsTo, twoAtATime } from './killed-process';
import { contentOf, readStore, writeOldStore } from './old-store-fixture';
import { openGroupStore } from './open';

let folder: string;
let opener: StoreOpener;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowly-killed-'));
  opener = new StoreOpener(folder);
  for (const journal of ['wal', 'delete'] as const) {
    mkdirSync(join(folder, journal));
    writeOldStore(fileIn(join(folder, journal)), 1, journal);
  }
});
afterAll(async () => {
  await opener.end();
  rmSync(folder, { recursive: true });
});

const fileIn = (home: string) => join(home, 'profile-rooms.sqlite3');

/** A data folder with a database of version 1. */
function newHome(name: string, journal: 'wal' | 'delete'): string {
  const home = join(folder, name);
  cpSync(join(folder, journal), home, { recursive: true });
  return home;
}

/** Whole, of a known version and with the same content; the next process brings it to the end. @returns its version */
async function assertWhole(home: string): Promise<number> {
  // As it was left, so that nobody's recovery helps the next process.
  const copy = `${home}-copy`;
  cpSync(home, copy, { recursive: true });
  const { version, content } = readStore(fileIn(copy));
  expect(content).toEqual(contentOf(1));
  (await openGroupStore({ home, busyMs: 1_000 })).close();
  expect(readStore(fileIn(home))).toEqual({ version: 4, content: contentOf(1) });
  return version;
}

it('killed at every statement of every step, the file is a whole version with the same content', async () => {
  const { steps, code } = await opener.open(newHome('alive', 'wal'));
  expect(code).toBe(0);
  const stamped = steps.indexOf('PRAGMA user_version = 4');
  expect(steps[stamped + 1]).toBe('COMMIT');
  const versions = new Map<number, number>();
  await twoAtATime(stepsTo(stamped + 2), async (at) => {
    const home = newHome(`killed-${at}`, 'wal');
    expect(await opener.open(home, at)).toMatchObject({ signal: 'SIGKILL' });
    versions.set(at, await assertWhole(home));
  });
  const found = [...versions].sort(([a], [b]) => a - b).map(([, version]) => version);
  expect(found).toEqual([...found].sort());
  expect(new Set(found)).toEqual(new Set([1, 2, 3, 4]));
}, 60_000);

it('killed at any instant, with and without a write-ahead log', async () => {
  const { ended: alive } = await opener.begin(newHome('to-the-end', 'delete'));
  const begun = performance.now();
  await alive;
  const whole = performance.now() - begun;
  await twoAtATime(stepsTo(12), async (at) => {
    const home = newHome(`instant-${at}`, at % 2 === 0 ? 'wal' : 'delete');
    const { child, ended } = await opener.begin(home);
    await delay(Math.random() * whole);
    child.kill('SIGKILL');
    await ended;
    await assertWhole(home);
  });
}, 60_000);

it('processes that open it at once take each step once, and one of them may die', async () => {
  const home = newHome('together', 'delete');
  const alive = [1, 2, 3].map(() => opener.open(home));
  const dead = opener.open(home, 8);
  expect((await Promise.all(alive)).map(({ code }) => code)).toEqual([0, 0, 0]);
  await dead;
  expect(readStore(fileIn(home))).toEqual({ version: 4, content: contentOf(1) });
}, 60_000);
