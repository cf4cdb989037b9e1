import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';

/**
 * Makes a database file that did not exist, whole or not at all: built beside its name and published
 * by `link`, which fails when the name exists; the loser of a race uses the winner's (store.md §3).
 */
export function createDatabaseFile(file: string, build: (sqlite: Sqlite.Database) => void): void {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const staging = `${file}.${randomUUID()}.new`;
  try {
    closeSync(openSync(staging, 'wx', 0o600));
    const sqlite = new Sqlite(staging);
    try {
      sqlite.pragma('journal_mode = WAL');
      sqlite.transaction(() => build(sqlite)).immediate();
      sqlite.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      sqlite.close();
    }
    sync(staging);
    publish(staging, file);
    sync(dirname(file));
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(staging + suffix, { force: true });
  }
}

function publish(staging: string, file: string): void {
  try {
    linkSync(staging, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
}

function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
