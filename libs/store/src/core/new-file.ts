import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { syncToDisk } from './sync-to-disk';

const STAGING = '.new';
const LOGS = ['-wal', '-shm'] as const;
const IS_STAGING = /\.new(-wal|-shm)?$/;
/** Nobody builds for so long: what is older was left by a process that died. */
const LEFT_MS = 3_600_000;

/**
 * Makes a database file that did not exist, whole or not at all: built beside its name and published
 * by `link`, which fails when the name exists; the loser of a race uses the winner's (store.md §3).
 */
export function createDatabaseFile(file: string, build: (sqlite: Sqlite.Database) => void): void {
  if (existsSync(file)) return;
  const staging = stagingFor(file);
  try {
    buildDatabase(staging, build);
    publish(staging, file);
  } finally {
    removeStaging(staging);
  }
}

/** As {@link createDatabaseFile}; `make` leaves a closed database under the name it is given. */
export async function publishDatabaseFile(
  file: string,
  make: (staging: string) => Promise<void>,
): Promise<void> {
  const staging = stagingFor(file);
  try {
    await make(staging);
    publish(staging, file);
  } finally {
    removeStaging(staging);
  }
}

/** A new database under a name that nobody else uses, for the owner only; in one transaction. */
export function buildDatabase(file: string, build: (sqlite: Sqlite.Database) => void): void {
  closeSync(openSync(file, 'wx', 0o600));
  const sqlite = new Sqlite(file);
  try {
    sqlite.pragma('journal_mode = WAL');
    sqlite.transaction(() => build(sqlite)).immediate();
    sqlite.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    sqlite.close();
  }
}

/** Removes what a process left that died while it was making this file. */
export function removeLeftStaging(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(file)}.`) || !IS_STAGING.test(name)) continue;
    const left = statSync(join(folder, name), { throwIfNoEntry: false });
    if (left && Date.now() - left.mtimeMs > LEFT_MS) rmSync(join(folder, name), { force: true });
  }
}

function stagingFor(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return `${file}.${randomUUID()}${STAGING}`;
}

function removeStaging(staging: string): void {
  for (const suffix of ['', ...LOGS]) rmSync(staging + suffix, { force: true });
}

function publish(staging: string, file: string): void {
  // Only the file gets the name: whatever were still in its log would be lost.
  if (existsSync(`${staging}-wal`)) throw new Error('The new database is not closed.');
  syncToDisk(staging);
  link(staging, file);
  syncToDisk(dirname(file));
}

function link(staging: string, file: string): void {
  try {
    linkSync(staging, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
}
