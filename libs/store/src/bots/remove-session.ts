import { z } from 'zod';
import { groupSessionPrefix } from '@flowly/contract';
import type { Database } from '../core/database';
import { readRun, type Run } from './run';

/** A receipt without what was said in its run. */
const WITHOUT_WORDS = `
  params = json_remove(json_set(params, '$.message', ''), '$.files'),
  outcome = json_remove(json_set(outcome, '$.text', ''), '$.toolCalls', '$.attachments')`;

const keySchema = z.object({ key: z.string() });

/** Keys of the private sessions of groups (groups.md §5). */
export function groupSessionKeys(database: Database): string[] {
  return database
    .all(
      'SELECT key FROM sessions WHERE key >= ? AND key < ? ORDER BY key',
      groupSessionPrefix,
      `${groupSessionPrefix}\u{10ffff}`,
    )
    .map((row) => keySchema.parse(row).key);
}

/** Whether the session is there and was made at that moment (Unix ms) or before. */
export function isSessionMadeBy(database: Database, key: string, at: number): boolean {
  const sql = 'SELECT 1 FROM sessions WHERE key = ? AND created_at <= ?';
  return database.get(sql, key, at) !== undefined;
}

/** The runs of a session that have not ended, in order of acceptance. */
export function openRuns(database: Database, sessionKey: string): Run[] {
  return database
    .all(
      `SELECT * FROM runs WHERE session_key = ? AND state IN ('accepted', 'running') ORDER BY seq`,
      sessionKey,
    )
    .map(readRun);
}

/**
 * Removes a session with its history and what was asked of people in it. The receipts of its runs stay without what was
 * said, so that what is delivered again is still known. Its runs must have ended. Only inside `database.write`.
 */
export function removeSession(database: Database, key: string): void {
  database.run('DELETE FROM sessions WHERE key = ?', key);
  database.run('DELETE FROM requests WHERE session_key = ?', key);
  database.run(`UPDATE runs SET ${WITHOUT_WORDS} WHERE session_key = ?`, key);
}

/** Takes what was said, and asked of people, out of the receipts of ended runs. Only inside `database.write`. */
export function forgetWords(database: Database, runIds: readonly string[]): void {
  const which = 'run_id IN (SELECT value FROM json_each(?))';
  const ids = JSON.stringify(runIds);
  database.run(`DELETE FROM requests WHERE ${which}`, ids);
  database.run(`UPDATE runs SET ${WITHOUT_WORDS} WHERE ${which}`, ids);
}
