import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ContractError } from '@flowly/contract';
import { Database, type DatabaseOptions } from '../core/database';
import { createDatabaseFile, removeLeftStaging } from '../core/new-file';
import { useWriteAheadLog } from '../core/write-ahead';
import { areCountsRight, isDerivedCurrent, rebuildDerived } from './derived';
import { beginUnused, readGeneration } from './generation';
import { GroupStore } from './group-store';
import { inspectStore } from './inspect';
import { copyLegacy } from './legacy-copy';
import { migrate } from './migrations';
import { buildStore, EXT_DDL, SCHEMA_VERSION } from './schema';

export const FILE_NAME = 'profile-rooms.sqlite3';
const LEGACY_NAME = 'profile-rooms.json';

export const FAILURES = {
  busyCode: 'ROOM_STORE_CONFLICT',
  failedCode: 'ROOM_STORE_INVALID',
  fullCode: 'ROOM_STORE_LIMIT',
} as const;

export interface GroupStoreOptions {
  /** The data folder. */
  home: string;
  /** How long a writer waits for other processes, in ms. */
  busyMs: number;
  /** How large the file may become, in bytes; ordinary writes leave the last 16 MiB of it. */
  fileBytes?: number;
}

/**
 * Opens the group database of a data folder. At first use it is made, from the groups of an old version if
 * there are some; an older one is brought to the newest version (store.md §2, §3). What is not ours, damaged
 * or newer is left as it is.
 * @throws ContractError ROOM_STORE_INVALID, ROOM_STORE_LIMIT, ROOM_STORE_CONFLICT
 */
export async function openGroupStore({
  home,
  busyMs,
  fileBytes,
}: GroupStoreOptions): Promise<GroupStore> {
  const file = join(home, FILE_NAME);
  const options: DatabaseOptions = { file, busyMs, id: 'groups', ...FAILURES };
  let database: Database | undefined;
  try {
    removeLeftStaging(file);
    await makeIfMissing(home, options);
    if ((await inspectStore(file, busyMs)) < SCHEMA_VERSION) await migrate(options);
    database = Database.open(options);
    await useWriteAheadLog(database, options);
    await prepare(database);
    return new GroupStore(database, fileBytes);
  } catch (error) {
    database?.close();
    if (error instanceof ContractError) throw error;
    throw invalid('The group store cannot be opened.', error);
  }
}

/** The groups of an old version become the database; otherwise it is empty. */
async function makeIfMissing(home: string, options: DatabaseOptions): Promise<void> {
  const { file } = options;
  // Looked at before the database: another process may be making and opening it right now.
  const hasLog = sizeOf(`${file}-wal`) > 0;
  if (existsSync(file)) return;
  if (hasLog) throw invalid('The group store is gone but its log is there.');
  const legacy = join(home, LEGACY_NAME);
  if (existsSync(legacy)) await copyLegacy(legacy, options);
  else createDatabaseFile(file, buildStore);
}

/** Makes our own tables, and the derived rows of messages that others wrote while nobody counted. */
async function prepare(database: Database): Promise<void> {
  await database.write(() => {
    database.exec(EXT_DDL);
    beginUnused(database);
  });
  const right = database.read(() => isDerivedCurrent(database) && areCountsRight(database));
  if (!right) await database.write(() => rebuildDerived(database));
  const generation = readGeneration(database);
  if (generation !== null) database.beginOutboxOf(generation);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function invalid(message: string, cause?: unknown): ContractError {
  return new ContractError('ROOM_STORE_INVALID', message, { cause });
}
