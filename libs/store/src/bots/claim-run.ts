import { z } from 'zod';
import type { Database } from '../core/database';
import { isBeingDeleted } from './deleting';
import { addMessage } from './message';
import { findRun, isNextInSession, readRun, type Run } from './run';
import { isStopped } from './stopped';

export interface Claim {
  /** The process that drives the run. */
  owner: string;
  /** Unix ms. */
  at: number;
  /** Until when the claim stands without being renewed, Unix ms. */
  aliveUntil: number;
}

/**
 * Makes the caller the one who drives a run: the oldest open run of its session, not begun or left by
 * a dead owner. Null when it is not to be had; of a stopped bot only a run that is to end is. Each claim counts
 * `epoch` up, which shuts out every earlier owner. Only inside `database.write`.
 */
export function claimRun(database: Database, runId: string, claim: Claim): Run | null {
  const run = findRun(database, runId);
  if (!run || !isFree(run, claim.at)) return null;
  if (!isNextInSession(database, run) || isBeingDeleted(database)) return null;
  if (!run.abortRequested && isStopped(database)) return null;
  const row = database.get(
    `UPDATE runs SET state = 'running', owner = ?, alive_until = ?, epoch = epoch + 1,
       started_at = COALESCE(started_at, ?) WHERE run_id = ? RETURNING *`,
    claim.owner,
    claim.aliveUntil,
    claim.at,
    runId,
  );
  if (run.startedAt === null) {
    addMessage(database, { ...run, role: 'user', payload: asked(run), at: claim.at });
  }
  return readRun(row);
}

/** A group says in its own words which files a message has; what they are is not the session's to keep. */
function asked({ message: text, files, step }: Run) {
  return { text, ...(files?.length && !step && { attachments: files }) };
}

function isFree(run: Run, at: number): boolean {
  if (run.state === 'accepted') return true;
  return run.state === 'running' && run.aliveUntil !== null && run.aliveUntil < at;
}

/** Renews all claims of an owner; the ids of the runs that are still its own. Only inside `database.write`. */
export function renewAlive(database: Database, owner: string, aliveUntil: number): string[] {
  database.run(
    `UPDATE runs SET alive_until = ? WHERE state = 'running' AND owner = ?`,
    aliveUntil,
    owner,
  );
  return database
    .all(`SELECT run_id FROM runs WHERE state = 'running' AND owner = ? ORDER BY seq`, owner)
    .map((row) => z.object({ run_id: z.string() }).parse(row).run_id);
}

/** Whether this claim still stands: the fence of what changes a run (design rule 3). */
export function isClaimed(
  database: Database,
  { runId, epoch }: Pick<Run, 'runId' | 'epoch'>,
): boolean {
  const sql = `SELECT 1 FROM runs WHERE run_id = ? AND epoch = ? AND state = 'running'`;
  return database.get(sql, runId, epoch) !== undefined;
}

/** Remembers that a tool with side effects runs; false when the claim no longer stands. */
export function markSideEffects(database: Database, runId: string, epoch: number): boolean {
  const sql = `UPDATE runs SET side_effects = 1 WHERE run_id = ? AND epoch = ? AND state = 'running'`;
  return database.run(sql, runId, epoch) === 1;
}

/** An owner's runs whose end was asked for (design rule 5). */
export function runsToAbort(database: Database, owner: string): string[] {
  return database
    .all(
      `SELECT run_id FROM runs WHERE state = 'running' AND owner = ? AND abort_requested = 1`,
      owner,
    )
    .map((row) => z.object({ run_id: z.string() }).parse(row).run_id);
}

/**
 * Gives an owner's runs away, so that another may take them up at once. Without an owner no renewal brings them back.
 * Only inside `database.write`.
 */
export function releaseRuns(database: Database, owner: string): void {
  database.run(
    `UPDATE runs SET owner = NULL, alive_until = 0 WHERE state = 'running' AND owner = ?`,
    owner,
  );
}

/** Gives one run away, unless a newer claim has it. Only inside `database.write`. */
export function releaseRun(database: Database, runId: string, epoch: number): void {
  database.run(
    `UPDATE runs SET owner = NULL, alive_until = 0 WHERE state = 'running' AND run_id = ? AND epoch = ?`,
    runId,
    epoch,
  );
}
