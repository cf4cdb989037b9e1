import { z } from 'zod';
import { messageFileSchema, type MessageFile } from '@flowly/contract';
import type { Database } from '../core/database';
import { setAttachments } from './message';
import { findRun, type Run } from './run';

/** The files of a bot's own chats: its receipts and messages name them, the bytes are in its `media` folder. */

/** Ids in the bot's media of these files. */
export function mediaIdsOf(files: readonly MessageFile[] = []): string[] {
  return files.flatMap(({ mediaId }) => mediaId ?? []);
}

/** Those of these ids that the receipt of this run does not name; all when there is none. */
export function notOfRun(database: Database, runId: string, mediaIds: readonly string[]): string[] {
  const own = new Set(mediaIdsOf(findRun(database, runId)?.files));
  return mediaIds.filter((mediaId) => !own.has(mediaId));
}

/**
 * Says anew what the files of a running run are, in its receipt and in its message. False, and nothing is changed, when
 * the claim no longer stands. Only inside `database.write`.
 */
export function setRunFiles(
  database: Database,
  run: Pick<Run, 'runId' | 'epoch' | 'sessionKey'>,
  files: readonly MessageFile[],
): boolean {
  const changed = database.run(
    `UPDATE runs SET params = json_set(params, '$.files', json(?))
     WHERE run_id = ? AND epoch = ? AND state = 'running'`,
    JSON.stringify(files),
    run.runId,
    run.epoch,
  );
  if (changed === 0) return false;
  setAttachments(database, run, files);
  return true;
}

const filesRowSchema = z.object({
  files: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(messageFileSchema)),
});

/**
 * Media ids of the files that came into a session. Who removes the session asks before, in the same transaction, and
 * removes the files after its commit.
 */
export function filesOfSession(database: Database, sessionKey: string): string[] {
  return mediaIdsIn(
    database.all(
      `SELECT params -> '$.files' AS files FROM runs
       WHERE session_key = ? AND step IS NULL AND params -> '$.files' IS NOT NULL`,
      sessionKey,
    ),
  );
}

/** Media ids of the files that came with these runs; asked as {@link filesOfSession} is. */
export function filesOfRuns(database: Database, runIds: readonly string[]): string[] {
  return mediaIdsIn(
    database.all(
      `SELECT params -> '$.files' AS files FROM runs
       WHERE run_id IN (SELECT value FROM json_each(?)) AND step IS NULL AND params -> '$.files' IS NOT NULL`,
      JSON.stringify(runIds),
    ),
  );
}

/** Media ids that some message or open run refers to. It reads every message: for sweeps. */
export function referredFiles(database: Database): Set<string> {
  const rows = database.all(
    `SELECT payload -> '$.attachments' AS files FROM messages
     WHERE role = 'user' AND payload -> '$.attachments' IS NOT NULL
     UNION ALL
     SELECT params -> '$.files' FROM runs
     WHERE state IN ('accepted', 'running') AND params -> '$.files' IS NOT NULL`,
  );
  return new Set(mediaIdsIn(rows));
}

function mediaIdsIn(rows: readonly unknown[]): string[] {
  return rows.flatMap((row) => mediaIdsOf(filesRowSchema.parse(row).files));
}
