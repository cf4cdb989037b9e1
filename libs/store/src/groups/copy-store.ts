import { closeSync, openSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { ContractError } from '@flowly/contract';
import { sqliteCode } from '../core/busy';
import { syncToDisk } from '../core/sync-to-disk';
import { beginGeneration } from './generation';
import { inspected } from './inspect';

const BUSY_TIMEOUT_MS = 5_000;

/** The files that SQLite may keep beside a database. */
export const LOG_SUFFIXES = ['-wal', '-journal', '-shm'] as const;

/**
 * Copies a group database, with what is still in its log, into a single new file (0600) that was looked through and
 * begins a life of its own. It stops the event loop while it works.
 * @throws ContractError ROOM_STORE_INVALID when the source is damaged or no group database, ROOM_STORE_LIMIT when the
 *   disk is full; an error of the file system
 */
export function copyStore(source: string, copy: string): void {
  closeSync(openSync(copy, 'wx', 0o600));
  try {
    vacuumInto(source, copy);
    withDatabase(copy, {}, (sqlite) => {
      beginGeneration(sqlite);
      inspected(sqlite);
    });
  } catch (error) {
    throw translated(error);
  }
  syncToDisk(copy);
}

/** Removes a database with its logs, if it is there. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', ...LOG_SUFFIXES]) rmSync(file + suffix, { force: true });
}

/** One moment of the source: a reader of a write-ahead log holds no writer up. */
function vacuumInto(source: string, copy: string): void {
  withDatabase(source, { readonly: true }, (sqlite) => {
    // A copy is made of the rows alone, and would hide a damage of the source.
    if (sqlite.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      throw new ContractError('ROOM_STORE_INVALID', 'The group store is damaged.');
    }
    sqlite.prepare('VACUUM INTO ?').run(copy);
  });
}

function withDatabase(
  file: string,
  options: Sqlite.Options,
  work: (sqlite: Sqlite.Database) => void,
): void {
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS, ...options });
  try {
    work(sqlite);
  } finally {
    sqlite.close();
  }
}

function translated(error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === null) return error;
  if (code === 'SQLITE_FULL') {
    return new ContractError('ROOM_STORE_LIMIT', 'The disk has no room left.', { cause: error });
  }
  return new ContractError('ROOM_STORE_INVALID', 'The group store cannot be read.', {
    cause: error,
  });
}
