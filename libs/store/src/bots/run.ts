import { z } from 'zod';
import { messageFileSchema, stepAbortedSchema } from '@flowly/contract';
import type { Database } from '../core/database';

/** The step of a group that a run answers. */
export const runStepSchema = stepAbortedSchema.pick({
  stepKey: true,
  groupId: true,
  runId: true,
  bot: true,
});
export type RunStep = z.infer<typeof runStepSchema>;

/** What the host itself says of a client's message (bots.md §2.1). */
export const hostFieldsSchema = z.object({
  turnOrigin: z.literal('user'),
  /** Names of all bots when the message came. */
  profileDirectory: z.array(z.string()),
  profileMentions: z.array(z.string()),
});
export type HostFields = z.infer<typeof hostFieldsSchema>;

export const runParamsSchema = z.object({
  message: z.string(),
  modelOverride: z.string().nullable(),
  disabledTools: z.array(z.string()),
  /** Files of the message, by id or address: a group's are in the groups' media, others in the bot's own. */
  files: z.array(messageFileSchema).optional(),
  /** Absent for the step of a group. */
  host: hostFieldsSchema.optional(),
});

const flag = z.number().transform((value) => value === 1);
const json = z.string().transform((text): unknown => JSON.parse(text));

const runRowSchema = z
  .object({
    seq: z.number(),
    run_id: z.string(),
    session_key: z.string(),
    state: z.enum(['accepted', 'running', 'completed', 'aborted', 'error']),
    origin: z.enum(['user', 'group']),
    fingerprint: z.string(),
    params: json.pipe(runParamsSchema),
    step: json.pipe(runStepSchema).nullable(),
    accepted_at: z.number(),
    started_at: z.number().nullable(),
    ended_at: z.number().nullable(),
    epoch: z.number(),
    owner: z.string().nullable(),
    alive_until: z.number().nullable(),
    abort_requested: flag,
    side_effects: flag,
    outcome: json.pipe(z.record(z.string(), z.unknown())).nullable(),
  })
  .transform((row) => ({
    /** Order of acceptance. */
    seq: row.seq,
    runId: row.run_id,
    sessionKey: row.session_key,
    state: row.state,
    origin: row.origin,
    fingerprint: row.fingerprint,
    ...row.params,
    step: row.step,
    /** Times in Unix ms. */
    acceptedAt: row.accepted_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    /** Counts the claims; who answers with an older one changes nothing. */
    epoch: row.epoch,
    owner: row.owner,
    aliveUntil: row.alive_until,
    abortRequested: row.abort_requested,
    /** A tool with side effects has run, so the run may not be taken up again (bots.md §3.3). */
    sideEffects: row.side_effects,
    outcome: row.outcome,
  }));

/** One turn of a bot: the receipt of a `chat.send`, or a step of a group. */
export type Run = z.infer<typeof runRowSchema>;
export type RunState = Run['state'];
export type EndState = Exclude<RunState, 'accepted' | 'running'>;

const OPEN = `state IN ('accepted', 'running')`;

export function findRun(database: Database, runId: string): Run | null {
  return parsed(database.get('SELECT * FROM runs WHERE run_id = ?', runId));
}

/** The run of the session that has begun last, also when it has ended; each begins with its user's message. */
export function newestBegunRun(database: Database, sessionKey: string): Run | null {
  return parsed(
    database.get(
      `SELECT * FROM runs WHERE run_id =
         (SELECT run_id FROM messages WHERE session_key = ? AND run_id IS NOT NULL ORDER BY id DESC LIMIT 1)`,
      sessionKey,
    ),
  );
}

/** The oldest run of the session that has not ended: the only one that may run. */
export function nextOpenRun(database: Database, sessionKey: string): Run | null {
  return parsed(
    database.get(
      `SELECT * FROM runs WHERE session_key = ? AND ${OPEN} ORDER BY seq LIMIT 1`,
      sessionKey,
    ),
  );
}

/** Whether no run of its session that is older is still open: only then it may run. */
export function isNextInSession(database: Database, { sessionKey, seq }: Run): boolean {
  const sql = `SELECT 1 FROM runs WHERE session_key = ? AND seq < ? AND ${OPEN} LIMIT 1`;
  return database.get(sql, sessionKey, seq) === undefined;
}

/** Runs that nobody drives at `at` (Unix ms) and that are first in their session, in order of acceptance. */
export function runsToTakeUp(database: Database, at: number): Run[] {
  return database
    .all(
      `SELECT * FROM runs AS run WHERE ${OPEN} AND (alive_until IS NULL OR alive_until < ?)
       AND NOT EXISTS (SELECT 1 FROM runs AS earlier
         WHERE earlier.session_key = run.session_key AND earlier.${OPEN} AND earlier.seq < run.seq)
       ORDER BY seq`,
      at,
    )
    .map(readRun);
}

/** All runs that have not ended, in order of acceptance. */
export function allOpenRuns(database: Database): Run[] {
  return database.all(`SELECT * FROM runs WHERE ${OPEN} ORDER BY seq`).map(readRun);
}

/** Runs accepted and not ended. */
export function activeRunCount(database: Database): number {
  const row = database.get(`SELECT COUNT(*) AS count FROM runs WHERE ${OPEN}`);
  return z.object({ count: z.number() }).parse(row).count;
}

/** When the bot was last given something to do, in Unix ms; null if never. */
export function lastUsedAt(database: Database): number | null {
  const row = database.get('SELECT accepted_at FROM runs ORDER BY seq DESC LIMIT 1');
  return row === undefined ? null : z.object({ accepted_at: z.number() }).parse(row).accepted_at;
}

/** A whole row of `runs`. */
export function readRun(row: unknown): Run {
  return runRowSchema.parse(row);
}

function parsed(row: unknown): Run | null {
  return row === undefined ? null : readRun(row);
}
