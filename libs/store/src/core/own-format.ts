import { ContractError } from '@flowly/contract';
import { Database, type DatabaseOptions } from './database';
import { createDatabaseFile } from './new-file';

/** A format of this project: the SQL of step n turns version n into n + 1; steps are never edited. */
export interface OwnFormat {
  applicationId: number;
  steps: readonly string[];
}

/** Makes a file of the newest version (0600) where none is; whole or not at all. */
export function createOwnDatabase(format: OwnFormat, file: string): void {
  createDatabaseFile(file, (sqlite) => {
    sqlite.pragma(`application_id = ${format.applicationId}`);
    for (const step of format.steps) sqlite.exec(step);
    sqlite.pragma(`user_version = ${format.steps.length}`);
  });
}

/**
 * Opens a database of a format of ours: made when it is missing, brought forward when it is older. A
 * foreign or newer file is left as it is.
 * @throws ContractError the options' `failedCode`, not retryable, for a foreign or newer file
 */
export async function openOwnDatabase(
  format: OwnFormat,
  options: DatabaseOptions,
): Promise<Database> {
  createOwnDatabase(format, options.file);
  const database = Database.open(options);
  try {
    await bringForward(database, format, options);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Each step and its new version are one transaction that reads the version again. */
async function bringForward(
  database: Database,
  format: OwnFormat,
  options: DatabaseOptions,
): Promise<void> {
  while (knownVersion(database, format, options) < format.steps.length) {
    await database.write(() => {
      const version = knownVersion(database, format, options);
      const step = format.steps[version];
      if (step === undefined) return;
      database.exec(step);
      database.pragma(`user_version = ${version + 1}`);
    });
  }
}

function knownVersion(database: Database, format: OwnFormat, options: DatabaseOptions): number {
  const version = Number(database.pragma('user_version'));
  if (
    database.pragma('application_id') === format.applicationId &&
    version >= 1 &&
    version <= format.steps.length
  ) {
    return version;
  }
  throw new ContractError(options.failedCode, 'The database has an unknown format.', {
    retryable: false,
  });
}
