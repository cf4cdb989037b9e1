import { closeSync, openSync, readSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { ContractError } from '@flowly/contract';
import { APPLICATION_ID, SCHEMA_COLUMNS } from './schema';

const HEADER_BYTES = 100;

/**
 * Takes a transaction back that died with its process outside of a write-ahead log; before, nobody can read the file.
 * SQLite does it by itself for whoever may write.
 * @throws ContractError ROOM_STORE_INVALID for a file that is not ours to write; SqliteError
 */
export function takeBack(file: string, timeoutMs: number): void {
  if (!isReadableVersion(file)) {
    throw new ContractError('ROOM_STORE_INVALID', 'The file is no group store of a known version.');
  }
  const sqlite = new Sqlite(file, { fileMustExist: true, timeout: timeoutMs });
  try {
    sqlite.pragma('schema_version');
  } finally {
    sqlite.close();
  }
}

/** By the header alone, which tells as much also of a file that is half written. */
function isReadableVersion(file: string): boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, header);
  } finally {
    closeSync(handle);
  }
  return (
    header.readUInt32BE(68) === APPLICATION_ID &&
    SCHEMA_COLUMNS[header.readUInt32BE(60)] !== undefined
  );
}
