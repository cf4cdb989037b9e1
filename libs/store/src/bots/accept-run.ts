import type { MessageFile } from '@flowly/contract';
import type { Database } from '../core/database';
import { takeRememberedAbort } from './abort-run';
import { isBeingDeleted } from './deleting';
import { findRun, readRun, type HostFields, type Run, type RunStep } from './run';
import { touchSession } from './session';
import { isStopped } from './stopped';

export interface NewRun {
  runId: string;
  sessionKey: string;
  origin: Run['origin'];
  /** Hash of the call; the same id with another one is a conflict. */
  fingerprint: string;
  message: string;
  modelOverride: string | null;
  disabledTools?: readonly string[];
  files?: readonly MessageFile[];
  host?: HostFields;
  step: RunStep | null;
  /** Unix ms. */
  at: number;
}

export type Acceptance =
  /** `abortedBefore`: its abort came first; the caller ends the run in the same transaction. */
  | { kind: 'new'; run: Run; abortedBefore: boolean }
  | { kind: 'known'; run: Run }
  | { kind: 'conflict' }
  /** The bot is being deleted. */
  | { kind: 'gone' }
  /** The bot was stopped by its owner. */
  | { kind: 'stopped' };

/**
 * Writes the receipt of a run before any work (bots.md §3.3), and the session if it is new. A step of
 * a group repeats under its id alone. The message joins the history when the run first starts, so
 * that the history is in the order in which turns run. Only inside `database.write`.
 */
export function acceptRun(database: Database, wanted: NewRun): Acceptance {
  if (isBeingDeleted(database)) return { kind: 'gone' };
  const known = findRun(database, wanted.runId);
  if (known) return isRepeat(known, wanted) ? { kind: 'known', run: known } : { kind: 'conflict' };
  if (isStopped(database)) return { kind: 'stopped' };
  touchSession(database, wanted.sessionKey, wanted.at);
  // A group ends its steps by rows of their own; what a client remembered is not about them.
  const abortedBefore =
    wanted.origin === 'user' && takeRememberedAbort(database, wanted.runId, wanted.sessionKey);
  return { kind: 'new', run: insert(database, wanted, abortedBefore), abortedBefore };
}

/**
 * Writes the receipt of a run that must never begin, so that its send, when it comes, is known. No session is made for
 * it. Only inside `database.write`, by a caller who ends it there.
 */
export function refuseRun(database: Database, wanted: NewRun): Run {
  return insert(database, wanted, true);
}

function isRepeat(known: Run, wanted: NewRun): boolean {
  if (wanted.origin === 'group') return known.origin === 'group';
  return known.sessionKey === wanted.sessionKey && known.fingerprint === wanted.fingerprint;
}

function insert(database: Database, wanted: NewRun, abortRequested: boolean): Run {
  const { message, modelOverride, disabledTools = [], files, host } = wanted;
  const row = database.get(
    `INSERT INTO runs(run_id, session_key, state, origin, fingerprint, params, step, accepted_at, abort_requested)
     VALUES (?, ?, 'accepted', ?, ?, ?, ?, ?, ?) RETURNING *`,
    wanted.runId,
    wanted.sessionKey,
    wanted.origin,
    wanted.fingerprint,
    JSON.stringify({ message, modelOverride, disabledTools, files, host }),
    wanted.step && JSON.stringify(wanted.step),
    wanted.at,
    abortRequested ? 1 : 0,
  );
  return readRun(row);
}
