import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ContractError } from '@flowly/contract';
import { isBusy, sqliteCode } from '../core/busy';
import { syncToDisk } from '../core/sync-to-disk';
import { copyStore, LOG_SUFFIXES, removeDatabase } from './copy-store';
import { keptDatabases, keptName } from './kept';
import { FILE_NAME } from './open';

const HELD_MS = 1_000;
/** What holds content that the file alone may not have. */
const LOGS = ['-wal', '-journal'] as const;

export interface RestoreOptions {
  home: string;
  /** A backup, or another group database that nobody writes. */
  from: string;
  /** Names the replaced database. */
  now: Date;
}

/**
 * Puts a backup in the place of the group database. Only while no service runs. The replaced database is kept beside it;
 * at any instant the place holds the old one or the new one, whole.
 * @returns name of the kept database in the data folder; null where there was none
 * @throws ContractError ROOM_STORE_CONFLICT (somebody has the database open), ROOM_STORE_INVALID (the backup is damaged
 *   or none), ROOM_STORE_LIMIT; an error of the file system. Then nothing was changed
 */
export function restoreGroupStore({ home, from, now }: RestoreOptions): string | null {
  const file = join(home, FILE_NAME);
  const staging = `${file}.restoring`;
  removeDatabase(staging); // of a restore that was killed
  try {
    copyStore(from, staging);
    return replace(file, staging, keptName(now));
  } finally {
    removeDatabase(staging);
  }
}

function replace(file: string, staging: string, kept: string): string | null {
  const aside = join(dirname(file), kept);
  forgetUnused(file);
  // Before it is opened: closing a damaged database may remove its logs.
  linkAll(LOGS, file, aside);
  const holder = existsSync(file) ? takeAlone(file, aside) : null;
  try {
    if (holder) removeAll(LOGS, aside);
    linkAll([''], file, aside);
    // Beside another database they would be taken for its own.
    removeAll(LOG_SUFFIXES, file);
    renameSync(staging, file);
    syncToDisk(dirname(file));
  } finally {
    holder?.close();
  }
  return existsSync(aside) ? kept : null;
}

/**
 * Opens the database so that nobody else can, with all that was in its log in the file; null where it is too damaged to
 * be opened at all. Leaving the write-ahead log is what SQLite allows only to one who is alone.
 */
function takeAlone(file: string, aside: string): Sqlite.Database | null {
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(file, { fileMustExist: true, timeout: HELD_MS });
    sqlite.pragma('journal_mode = DELETE');
    sqlite.exec('BEGIN EXCLUSIVE');
    return sqlite;
  } catch (error) {
    sqlite?.close();
    if (isBusy(error)) {
      removeAll(LOGS, aside);
      throw new ContractError('ROOM_STORE_CONFLICT', 'Another process has the group store open.', {
        cause: error,
      });
    }
    if (sqliteCode(error) === null) throw error;
    return null;
  }
}

/** A restore that was killed may have left a second name of the database that is in use. */
function forgetUnused(file: string): void {
  const used = statSync(file, { throwIfNoEntry: false })?.ino;
  for (const name of keptDatabases(dirname(file))) {
    const kept = join(dirname(file), name);
    if (statSync(kept).ino === used) removeAll(['', ...LOGS], kept);
  }
}

function linkAll(suffixes: readonly string[], from: string, to: string): void {
  for (const suffix of suffixes)
    if (existsSync(from + suffix)) linkSync(from + suffix, to + suffix);
}

function removeAll(suffixes: readonly string[], file: string): void {
  for (const suffix of suffixes) rmSync(file + suffix, { force: true });
}
