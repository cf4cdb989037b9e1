import { statSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import { ContractError } from '@flowly/contract';
import { BUSY, isBusy, sqliteCode, whenFree } from '../core/busy';
import { lookAside, lookInPlace, looksOf } from '../core/look-aside';
import { takeBack } from './half-written';
import {
  APPLICATION_ID,
  LIVE_INDEX,
  SCHEMA_COLUMNS,
  SCHEMA_VERSION,
  type StoredColumns,
} from './schema';
import { FILE_BYTES } from './size-limits';

const BUSY_TIMEOUT_MS = 5;

/**
 * Looks at an existing database before it is used or brought to the newest version (store.md §3), without write
 * access: one that is refused stays as it is, byte for byte.
 * @returns its version
 * @throws ContractError ROOM_STORE_LIMIT, ROOM_STORE_INVALID, ROOM_STORE_CONFLICT
 */
export async function inspectStore(file: string, busyMs: number): Promise<number> {
  const outcome = await whenFree(Date.now() + busyMs, () => inspectOnce(file));
  if (outcome === BUSY) {
    throw new ContractError('ROOM_STORE_CONFLICT', 'Another process holds the group store.');
  }
  return outcome;
}

function inspectOnce(file: string): number | typeof BUSY {
  try {
    if (statSync(file).size > FILE_BYTES) {
      throw new ContractError('ROOM_STORE_LIMIT', 'The group store is larger than 2 GiB.');
    }
    return inspectWhole(file);
  } catch (error) {
    if (isBusy(error)) return BUSY;
    if (error instanceof ContractError) throw error;
    throw new ContractError('ROOM_STORE_INVALID', 'The group store cannot be read.', {
      cause: error,
    });
  }
}

/** A transaction that died with its process is taken back first; nothing can be read before. */
function inspectWhole(file: string): number {
  try {
    return inspectFile(file);
  } catch (error) {
    if (sqliteCode(error) !== 'SQLITE_READONLY_ROLLBACK') throw error;
    takeBack(file, BUSY_TIMEOUT_MS);
    return inspectFile(file);
  }
}

/** Only what somebody writes meanwhile, and therefore has open, is looked at in place. */
function inspectFile(file: string): number {
  const before = looksOf(file);
  try {
    return lookAside(file, BUSY_TIMEOUT_MS, inspected);
  } catch (error) {
    if (looksOf(file) === before) throw error;
    return lookInPlace(file, BUSY_TIMEOUT_MS, inspected);
  }
}

/** In one transaction: another process may bring the file to a newer version meanwhile. */
export function inspected(sqlite: Sqlite.Database): number {
  return sqlite.transaction(() => check(sqlite))();
}

function check(sqlite: Sqlite.Database): number {
  if (pragma(sqlite, 'application_id') !== APPLICATION_ID) refuse('The file is no group store.');
  const version = Number(pragma(sqlite, 'user_version'));
  const schema = SCHEMA_COLUMNS[version];
  if (!schema) refuse('The group store has another version.');
  const isSchema = version < SCHEMA_VERSION ? hasExactly : hasAtLeast;
  if (!isSchema(sqlite, schema)) refuse('The group store does not have the tables of its version.');
  if (pragma(sqlite, 'quick_check(1)') !== 'ok') refuse('The group store is damaged.');
  const revision = one(sqlite, "SELECT value FROM room_store_meta WHERE key = 'revision'");
  if (typeof revision !== 'string' || !/^\d{1,15}$/.test(revision)) {
    refuse('The revision of the group store is invalid.');
  }
  if (one(sqlite, BAD_GROUP) !== undefined) refuse('A group cannot be read.');
  if (one(sqlite, badLiveMessage(version)) !== undefined) {
    refuse('A message of a live window cannot be read.');
  }
  return version;
}

function hasAtLeast(sqlite: Sqlite.Database, schema: StoredColumns): boolean {
  const index = `SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = '${LIVE_INDEX}'`;
  return (
    one(sqlite, index) !== undefined &&
    Object.entries(schema).every(([table, columns]) => {
      const present = new Set(columnsOf(sqlite, table));
      return columns.every((column) => present.has(column));
    })
  );
}

/** Nothing that the steps to the newest version would meet unawares. */
function hasExactly(sqlite: Sqlite.Database, schema: StoredColumns): boolean {
  return Object.entries(schema).every(
    ([table, columns]) => columnsOf(sqlite, table).join() === columns.join(),
  );
}

function columnsOf(sqlite: Sqlite.Database, table: string): unknown[] {
  return sqlite
    .prepare<[string], unknown>('SELECT name FROM pragma_table_info(?)')
    .pluck()
    .all(table);
}

/** SQL that is true unless a column holds JSON of this kind. */
function isNot(kind: 'array' | 'object', column: string): string {
  return `iif(typeof(${column}) = 'text' AND json_valid(${column}), json_type(${column}) <> '${kind}', 1)`;
}

const BAD_GROUP = `SELECT 1 FROM rooms WHERE ${isNot('array', 'members_json')}
  OR ${isNot('object', 'watermarks_json')}
  OR (run_json IS NOT NULL AND run_json <> 'null' AND ${isNot('object', 'run_json')}) LIMIT 1`;

/**
 * The table is read once, in its own order: each row that is found by the index of windows is a search of its own in a
 * tree that is deep, as its rows are long.
 */
function badLiveMessage(version: number): string {
  const isLive = version === 1 ? '' : 'trimmed = 0 AND ';
  return `SELECT 1 FROM room_messages NOT INDEXED WHERE ${isLive}${isNot('object', 'payload_json')} LIMIT 1`;
}

function pragma(sqlite: Sqlite.Database, name: string): unknown {
  return sqlite.pragma(name, { simple: true });
}

function one(sqlite: Sqlite.Database, sql: string): unknown {
  return sqlite.prepare<[], unknown>(sql).pluck().get();
}

function refuse(message: string): never {
  throw new ContractError('ROOM_STORE_INVALID', message);
}
