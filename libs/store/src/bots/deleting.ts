import { z } from 'zod';
import type { Database } from '../core/database';
import { findOutcome, storeOutcome } from '../core/commands';
import { readSetting, saveSetting } from './settings';

const KEY = 'deleting';

/** That a bot is being deleted, and who waits for it (bots.md §2). */
export const deletionSchema = z.object({
  /** The call that decided it, and its gateway. */
  command: z.string(),
  gateway: z.string(),
  /** Unix ms. */
  at: z.number(),
});
export type Deletion = z.infer<typeof deletionSchema>;

/** The deletion of this bot; null when none was decided. */
export function readDeletion(database: Database): Deletion | null {
  return deletionSchema.optional().parse(readSetting(database, KEY)) ?? null;
}

/** A copy that is put back is not being deleted. Only inside `database.write`. */
export function forgetDeletion(database: Database): void {
  database.run('DELETE FROM settings WHERE key = ?', KEY);
}

/** Whether the bot is being deleted: it takes nothing new, and for clients it does not exist. */
export function isBeingDeleted(database: Database): boolean {
  return readDeletion(database) !== null;
}

/**
 * Decides that the bot goes, once: from the commit on no run is accepted or claimed. Steps of groups are no hindrance:
 * their groups are stopped by it. A call that found the bot busy finds it so when it is delivered again. Only inside
 * `database.write`.
 * @returns `busy` while a run of a client is accepted and not ended, `gone` when another call has decided it
 */
export function decideDeletion(
  database: Database,
  deletion: Deletion,
): 'decided' | 'busy' | 'gone' {
  const { command, at } = deletion;
  const known = readDeletion(database);
  if (known) return known.command === command ? 'decided' : 'gone';
  if (findOutcome(database, command) !== null) return 'busy';
  if (isAtWork(database)) {
    storeOutcome(database, command, { busy: true }, at);
    return 'busy';
  }
  saveSetting(database, KEY, deletion);
  return 'decided';
}

function isAtWork(database: Database): boolean {
  const sql = `SELECT 1 FROM runs WHERE state IN ('accepted', 'running') AND origin <> 'group' LIMIT 1`;
  return database.get(sql) !== undefined;
}
