import { z } from 'zod';
import { usageSchema, type ChatMessage } from '@flowly/contract';
import type { Database } from '../core/database';
import { growSession } from './session';

const payloadSchema = z.object({
  text: z.string(),
  toolCalls: z.array(z.unknown()).optional(),
  usage: usageSchema.optional(),
  model: z.string().optional(),
  aborted: z.literal(true).optional(),
  durationMs: z.number().optional(),
});
type Payload = z.infer<typeof payloadSchema>;

const rowSchema = z.object({
  id: z.number().int(),
  run_id: z.string().nullable(),
  role: z.enum(['user', 'assistant']),
  payload: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(payloadSchema),
  created_at: z.number(),
});
export type MessageRow = z.infer<typeof rowSchema>;

export interface NewMessage {
  sessionKey: string;
  runId: string;
  role: MessageRow['role'];
  payload: Payload;
  /** Unix ms. */
  at: number;
}

/** Appends to a session's history; only inside `database.write`. */
export function addMessage(database: Database, message: NewMessage): void {
  const payload = JSON.stringify(message.payload);
  database.run(
    'INSERT INTO messages(session_key, run_id, role, payload, created_at) VALUES (?, ?, ?, ?, ?)',
    message.sessionKey,
    message.runId,
    message.role,
    payload,
    message.at,
  );
  growSession(database, message.sessionKey, Buffer.byteLength(payload), message.at);
}

/** The newest `limit` messages before the event id `before`, newest first. */
export function messagesBefore(
  database: Database,
  sessionKey: string,
  before: number,
  limit: number,
): MessageRow[] {
  return database
    .all(
      `SELECT id, run_id, role, payload, created_at FROM messages
       WHERE session_key = ? AND id < ? ORDER BY id DESC LIMIT ?`,
      sessionKey,
      before,
      limit,
    )
    .map((row) => rowSchema.parse(row));
}

/** A message as `chat.history` shows it (bots.md §3.3); `timestamp` in Unix ms. */
export function toChatMessage(row: MessageRow): ChatMessage {
  const { text, toolCalls, usage, aborted, durationMs } = row.payload;
  return {
    role: row.role,
    content: [{ type: 'text', text }],
    id: String(row.id),
    ...(row.run_id !== null && { runId: row.run_id }),
    timestamp: row.created_at,
    ...(toolCalls && { tool_calls: toolCalls }),
    ...(usage && { usage }),
    ...(aborted && { aborted }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

const contextRowsSchema = z.array(
  z.object({ role: z.enum(['user', 'assistant']), text: z.string() }),
);
/** One message as the model is given it. */
export type ContextMessage = z.infer<typeof contextRowsSchema>[number];

/**
 * The newest `limit` words of a session, oldest first, for the model. An answer without text is left out. Each turn
 * reads this, so only the text is taken out of the rows.
 */
export function contextMessages(
  database: Database,
  sessionKey: string,
  limit: number,
): ContextMessage[] {
  const rows = database.all(
    `SELECT role, json_extract(payload, '$.text') AS text FROM messages
     WHERE session_key = ? AND json_extract(payload, '$.text') <> '' ORDER BY id DESC LIMIT ?`,
    sessionKey,
    limit,
  );
  return contextRowsSchema.parse(rows).reverse();
}
