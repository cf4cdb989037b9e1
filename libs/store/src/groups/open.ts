import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ContractError } from '@flowly/contract';
import { Database } from '../core/database';
import { createDatabaseFile } from '../core/new-file';
import { areSizesRight, isDerivedCurrent, rebuildDerived } from './derived';
import { GroupStore } from './group-store';
import { inspectStore } from './inspect';
import { APPLICATION_ID, EXT_DDL, SCHEMA_DDL, SCHEMA_VERSION } from './schema';

const FILE_NAME = 'profile-rooms.sqlite3';
const LEGACY_NAME = 'profile-rooms.json';

const FAILURES = {
  busyCode: 'ROOM_STORE_CONFLICT',
  failedCode: 'ROOM_STORE_INVALID',
  fullCode: 'ROOM_STORE_LIMIT',
} as const;

export interface GroupStoreOptions {
  /** The data folder. */
  home: string;
  /** How long a writer waits for other processes, in ms. */
  busyMs: number;
}

/**
 * Opens the group database of a data folder, making an empty one at first use (store.md §3). What is
 * not ours, damaged or of another version is left as it is.
 * @throws ContractError ROOM_STORE_INVALID, ROOM_STORE_LIMIT, ROOM_STORE_CONFLICT
 */
export async function openGroupStore({ home, busyMs }: GroupStoreOptions): Promise<GroupStore> {
  const file = join(home, FILE_NAME);
  let database: Database | undefined;
  try {
    createIfMissing(home, file);
    await inspectStore(file, busyMs);
    database = Database.open({ file, busyMs, id: 'groups', ...FAILURES });
    database.pragma('journal_mode = WAL');
    await prepare(database);
    return new GroupStore(database);
  } catch (error) {
    database?.close();
    if (error instanceof ContractError) throw error;
    throw invalid('The group store cannot be opened.', error);
  }
}

function createIfMissing(home: string, file: string): void {
  // Looked at before the database: another process may be making and opening it right now.
  const hasLog = sizeOf(`${file}-wal`) > 0;
  if (existsSync(file)) return;
  if (existsSync(join(home, LEGACY_NAME))) {
    throw invalid('The groups are in the format of an old version.');
  }
  if (hasLog) throw invalid('The group store is gone but its log is there.');
  createDatabaseFile(file, (sqlite) => {
    sqlite.pragma(`application_id = ${APPLICATION_ID}`);
    sqlite.pragma(`user_version = ${SCHEMA_VERSION}`);
    sqlite.exec(SCHEMA_DDL);
    sqlite.exec(EXT_DDL);
  });
}

/** Makes our own tables, and the derived rows of messages that others wrote while nobody counted. */
async function prepare(database: Database): Promise<void> {
  await database.write(() => database.exec(EXT_DDL));
  const right = database.read(() => isDerivedCurrent(database) && areSizesRight(database));
  if (!right) await database.write(() => rebuildDerived(database));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function invalid(message: string, cause?: unknown): ContractError {
  return new ContractError('ROOM_STORE_INVALID', message, { cause });
}
