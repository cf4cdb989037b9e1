import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../core/database';
import { mediaInMessages } from './media-references';
import { FAILURES, FILE_NAME } from './open';

/** Databases that a restore has replaced: they are kept beside the one in use, so that one can go back. */

const PREFIX = `${FILE_NAME}.before-`;
const LOG = /-(wal|journal|shm)$/;

/** Name for a database that is replaced at this time. */
export function keptName(now: Date): string {
  return PREFIX + now.toISOString().replace(/[-:.]/g, '');
}

/** Names of the kept databases of a data folder. */
export function keptDatabases(home: string): string[] {
  return readdirSync(home).filter((name) => name.startsWith(PREFIX) && !LOG.test(name));
}

/**
 * The files of groups that messages of kept databases name; whoever goes back must find them.
 * @throws SqliteError or ContractError when one of them cannot be read: then nothing is known of its files
 */
export function mediaInKept(home: string): Set<string> {
  const named = keptDatabases(home).flatMap((name) => [...mediaIn(join(home, name))]);
  return new Set(named);
}

function mediaIn(file: string): Set<string> {
  const database = Database.open({ file, id: 'kept', busyMs: 0, ...FAILURES });
  try {
    return database.read(() => mediaInMessages(database));
  } finally {
    database.close();
  }
}
