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

const wordsSchema = z.tuple([z.number(), rowSchema.shape.role, z.string()]);
const contextSchema = z.object({
  words: z
    .string()
    .transform((json): unknown => JSON.parse(json))
    .pipe(z.array(wordsSchema)),
});
/** One message as the model is given it. */
export interface ContextMessage {
  role: MessageRow['role'];
  text: string;
}

/**
 * The newest `limit` words of a session, oldest first, for the model. An answer without text is left out. Each turn
 * reads this, so only the text is taken out of the rows, and all of it comes as one value.
 */
export function contextMessages(
  database: Database,
  sessionKey: string,
  limit: number,
): ContextMessage[] {
  const row = database.get(
    `SELECT json_group_array(json_array(id, role, payload ->> '$.text')) AS words FROM
       (SELECT id, role, payload FROM messages WHERE session_key = ? ORDER BY id DESC LIMIT ?)`,
    sessionKey,
    limit,
  );
  return contextSchema
    .parse(row)
    .words.sort(([a], [b]) => a - b)
    .flatMap(([, role, text]) => (text === '' ? [] : [{ role, text }]));
}
