import { z } from 'zod';
import type { Database } from '../core/database';
import { filesOfRuns } from './files';
import { forgetWords } from './remove-session';
import { growSession } from './session';

/** What was taken out of a session's history. */
export interface TakenBack {
  /** How many messages. */
  removed: number;
  /** Media ids of their files, which are to be removed after the commit. */
  mediaIds: string[];
}

const askedSchema = z.object({ id: z.number(), text: z.string() });
const takenSchema = z.object({ run_id: z.string().nullable(), bytes: z.number() });

/**
 * Takes the last message of the user and what came of it out of the history; null when there is none. Its receipts stay
 * without what was said. Its runs must have ended. Only inside `database.write`.
 * @returns also the message's text
 */
export function takeBackExchange(
  database: Database,
  sessionKey: string,
): (TakenBack & { text: string }) | null {
  const row = database.get(
    `SELECT id, payload ->> '$.text' AS text FROM messages
     WHERE session_key = ? AND role = 'user' ORDER BY id DESC LIMIT 1`,
    sessionKey,
  );
  if (row === undefined) return null;
  const { id, text } = askedSchema.parse(row);
  return { ...takeFrom(database, sessionKey, id), text };
}

/** Takes the whole history, as {@link takeBackExchange} takes its end. The session stays. */
export function clearHistory(database: Database, sessionKey: string): TakenBack {
  return takeFrom(database, sessionKey, 0);
}

function takeFrom(database: Database, sessionKey: string, first: number): TakenBack {
  const taken = database
    .all(
      `DELETE FROM messages WHERE session_key = ? AND id >= ?
       RETURNING run_id, length(CAST(payload AS BLOB)) AS bytes`,
      sessionKey,
      first,
    )
    .map((row) => takenSchema.parse(row));
  const runIds = [...new Set(taken.flatMap(({ run_id }) => run_id ?? []))];
  const mediaIds = filesOfRuns(database, runIds);
  forgetWords(database, runIds);
  const bytes = taken.reduce((sum, message) => sum + message.bytes, 0);
  growSession(database, sessionKey, -bytes, 0);
  noteLatestAnswer(database, sessionKey);
  return { removed: taken.length, mediaIds };
}

/** The answer that is the last one now; none when there is no answer left. */
function noteLatestAnswer(database: Database, sessionKey: string): void {
  database.run(
    `UPDATE sessions SET (last_assistant_run_id, last_assistant_at) =
       (SELECT run_id, created_at FROM messages
        WHERE session_key = sessions.key AND role = 'assistant' ORDER BY id DESC LIMIT 1)
     WHERE key = ?`,
    sessionKey,
  );
}
