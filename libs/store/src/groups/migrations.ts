import { ContractError } from '@flowly/contract';
import { Database, type DatabaseOptions } from '../core/database';
import { useWriteAheadLog } from '../core/write-ahead';
import { INDEX_DDL, SCHEMA_VERSION } from './schema';

/** How long a step waits for other processes, in ms (store.md §2). */
const MIGRATION_BUSY_MS = 30_000;

/** What turns version n into n + 1, one statement each; steps are never edited. */
const STEPS: Readonly<Record<number, readonly string[]>> = {
  1: [
    'ALTER TABLE room_messages RENAME COLUMN ordinal TO seq',
    'ALTER TABLE room_messages ADD COLUMN trimmed INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE rooms ADD COLUMN next_seq INTEGER NOT NULL DEFAULT 0',
    `UPDATE rooms SET next_seq =
      coalesce((SELECT max(seq) + 1 FROM room_messages WHERE room_id = rooms.id), 0)`,
    ...INDEX_DDL,
  ],
  2: ['ALTER TABLE rooms ADD COLUMN usage_json TEXT'],
  // The indexes again: the newest version cannot do without them, and nothing asked older ones for them.
  3: ['ALTER TABLE rooms ADD COLUMN member_policies_json TEXT', ...INDEX_DDL],
};

/**
 * Brings an older group database to the newest version (store.md §2). Each step and its new version are one
 * transaction that reads the version again: after a crash the file is a whole version, and no process repeats what
 * another has done. `revision`, `row_revision` and every value stay.
 * @throws ContractError of the options' codes
 */
export async function migrate(given: DatabaseOptions): Promise<void> {
  const options = { ...given, busyMs: MIGRATION_BUSY_MS };
  const database = Database.open(options);
  try {
    // A commit into a write-ahead log never fails because somebody reads.
    await useWriteAheadLog(database, options);
    while ((await database.write(() => takeStep(database, options))) < SCHEMA_VERSION);
  } finally {
    database.close();
  }
}

/** The version after the step. */
function takeStep(database: Database, { failedCode }: DatabaseOptions): number {
  const version = Number(database.pragma('user_version'));
  if (version === SCHEMA_VERSION) return version;
  const step = STEPS[version];
  if (!step) throw new ContractError(failedCode, 'The group store has another version.');
  for (const statement of step) database.exec(statement);
  database.pragma(`user_version = ${version + 1}`);
  return version + 1;
}
