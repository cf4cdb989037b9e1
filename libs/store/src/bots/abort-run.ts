import type { Database } from '../core/database';
import { findRun } from './run';

/**
 * Asks a run to end (bots.md §3.3). An id nobody has sent yet is remembered, so that an abort that
 * overtakes its send still counts (design rule 5). With `sessionKey` only a run of that session is
 * meant. Only inside `database.write`.
 */
export function requestAbort(
  database: Database,
  runId: string,
  sessionKey: string | null,
  at: number,
): 'unknown' | 'ended' | 'requested' {
  const run = findRun(database, runId);
  if (!run) {
    remember(database, runId, sessionKey, at);
    return 'unknown';
  }
  if (sessionKey !== null && run.sessionKey !== sessionKey) return 'unknown';
  if (run.endedAt !== null) return 'ended';
  database.run('UPDATE runs SET abort_requested = 1 WHERE run_id = ?', runId);
  return 'requested';
}

function remember(database: Database, runId: string, sessionKey: string | null, at: number): void {
  database.run(
    'INSERT OR REPLACE INTO aborts(run_id, session_key, at) VALUES (?, ?, ?)',
    runId,
    sessionKey,
    at,
  );
}

/** Whether an abort of this run came before it; it is used up by that. */
export function takeRememberedAbort(
  database: Database,
  runId: string,
  sessionKey: string,
): boolean {
  const sql = 'DELETE FROM aborts WHERE run_id = ? AND (session_key IS NULL OR session_key = ?)';
  return database.run(sql, runId, sessionKey) === 1;
}

/** Forgets aborts whose send has not come since `before` (Unix ms). */
export async function forgetAborts(database: Database, before: number): Promise<void> {
  await database.tidy(() => database.run('DELETE FROM aborts WHERE at < ?', before));
}
