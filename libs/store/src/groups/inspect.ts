import { statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { ContractError } from '@flowly/contract';
import { BUSY, isBusy, whenFree } from '../core/busy';
import { APPLICATION_ID, LIVE_INDEX, SCHEMA_COLUMNS, SCHEMA_VERSION } from './schema';
import { FILE_BYTES } from './size-limits';

const BUSY_TIMEOUT_MS = 5;

/**
 * Looks at an existing database before it is used (store.md §3), without write access: one that is
 * refused stays as it is, byte for byte.
 * @throws ContractError ROOM_STORE_LIMIT, ROOM_STORE_INVALID, ROOM_STORE_CONFLICT
 */
export async function inspectStore(file: string, busyMs: number): Promise<void> {
  const outcome = await whenFree(Date.now() + busyMs, () => inspectOnce(file));
  if (outcome === BUSY) {
    throw new ContractError('ROOM_STORE_CONFLICT', 'Another process holds the group store.');
  }
}

function inspectOnce(file: string): undefined | typeof BUSY {
  try {
    if (statSync(file).size > FILE_BYTES) {
      throw new ContractError('ROOM_STORE_LIMIT', 'The group store is larger than 2 GiB.');
    }
    const sqlite = new Sqlite(file, {
      readonly: true,
      fileMustExist: true,
      timeout: BUSY_TIMEOUT_MS,
    });
    try {
      check(sqlite);
    } finally {
      sqlite.close();
    }
    return undefined;
  } catch (error) {
    if (isBusy(error)) return BUSY;
    if (error instanceof ContractError) throw error;
    throw new ContractError('ROOM_STORE_INVALID', 'The group store cannot be read.', {
      cause: error,
    });
  }
}

function check(sqlite: Sqlite.Database): void {
  if (pragma(sqlite, 'application_id') !== APPLICATION_ID) refuse('The file is no group store.');
  if (pragma(sqlite, 'user_version') !== SCHEMA_VERSION) {
    refuse('The group store has another version.');
  }
  if (!hasSchema(sqlite)) refuse('The group store lacks tables or columns.');
  if (pragma(sqlite, 'quick_check(1)') !== 'ok') refuse('The group store is damaged.');
  const revision = one(sqlite, "SELECT value FROM room_store_meta WHERE key = 'revision'");
  if (typeof revision !== 'string' || !/^\d{1,15}$/.test(revision)) {
    refuse('The revision of the group store is invalid.');
  }
  if (one(sqlite, BAD_GROUP) !== undefined) refuse('A group cannot be read.');
  if (one(sqlite, BAD_LIVE_MESSAGE) !== undefined) {
    refuse('A message of a live window cannot be read.');
  }
}

function hasSchema(sqlite: Sqlite.Database): boolean {
  const names = sqlite.prepare<[string], unknown>('SELECT name FROM pragma_table_info(?)').pluck();
  const complete = Object.entries(SCHEMA_COLUMNS).every(([table, columns]) => {
    const present = new Set(names.all(table));
    return columns.every((column) => present.has(column));
  });
  const index = `SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = '${LIVE_INDEX}'`;
  return complete && one(sqlite, index) !== undefined;
}

/** SQL that is true unless a column holds JSON of this kind. */
function isNot(kind: 'array' | 'object', column: string): string {
  return `iif(typeof(${column}) = 'text' AND json_valid(${column}), json_type(${column}) <> '${kind}', 1)`;
}

const BAD_GROUP = `SELECT 1 FROM rooms WHERE ${isNot('array', 'members_json')}
  OR ${isNot('object', 'watermarks_json')}
  OR (run_json IS NOT NULL AND run_json <> 'null' AND ${isNot('object', 'run_json')}) LIMIT 1`;

const BAD_LIVE_MESSAGE = `SELECT 1 FROM rooms CROSS JOIN room_messages INDEXED BY ${LIVE_INDEX}
  ON room_id = rooms.id AND trimmed = 0 WHERE ${isNot('object', 'payload_json')} LIMIT 1`;

function pragma(sqlite: Sqlite.Database, name: string): unknown {
  return sqlite.pragma(name, { simple: true });
}

function one(sqlite: Sqlite.Database, sql: string): unknown {
  return sqlite.prepare<[], unknown>(sql).pluck().get();
}

function refuse(message: string): never {
  throw new ContractError('ROOM_STORE_INVALID', message);
}
