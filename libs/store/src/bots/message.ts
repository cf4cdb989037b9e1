import { z } from 'zod';
import {
  messageFileSchema,
  toolCallSchema,
  usageSchema,
  type ChatMessage,
  type MessageFile,
  type ToolCall,
} from '@flowly/contract';
import type { Database } from '../core/database';
import { growSession } from './session';

const payloadSchema = z.object({
  text: z.string(),
  /** Of the user's message. */
  attachments: z.array(messageFileSchema).optional(),
  /** Tools that the assistant called for. */
  toolCalls: z.array(toolCallSchema).optional(),
  /** The call whose result this is, of the role `tool`. */
  toolCallId: z.string().optional(),
  toolName: z.string().optional(),
  usage: usageSchema.optional(),
  model: z.string().optional(),
  aborted: z.literal(true).optional(),
  durationMs: z.number().optional(),
});
type Payload = z.infer<typeof payloadSchema>;

const rowSchema = z.object({
  id: z.number().int(),
  run_id: z.string().nullable(),
  role: z.enum(['user', 'assistant', 'tool']),
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
  const { text, attachments, toolCalls, toolCallId, toolName, usage, aborted, durationMs } =
    row.payload;
  return {
    role: row.role,
    content: [{ type: 'text', text }],
    id: String(row.id),
    ...(row.run_id !== null && { runId: row.run_id }),
    timestamp: row.created_at,
    ...(attachments && { attachments }),
    ...(toolCalls && { tool_calls: shownToolCalls(toolCalls) }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(toolName !== undefined && { name: toolName }),
    ...(usage && { usage }),
    ...(aborted && { aborted }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

/** Tool calls as clients are shown them, in history and events. */
export function shownToolCalls(calls: readonly ToolCall[]) {
  return calls.map(({ id, name, argumentsJson }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: argumentsJson },
  }));
}

/** What a run has added to the history, oldest first. */
export function messagesOfRun(
  database: Database,
  { sessionKey, runId }: { sessionKey: string; runId: string },
): MessageRow[] {
  return database
    .all(
      `SELECT id, run_id, role, payload, created_at FROM messages
       WHERE session_key = ? AND run_id = ? ORDER BY id`,
      sessionKey,
      runId,
    )
    .map((row) => rowSchema.parse(row));
}

/** Says anew what the files of a run's user message are; only inside `database.write`. */
export function setAttachments(
  database: Database,
  run: { sessionKey: string; runId: string },
  attachments: readonly MessageFile[],
): void {
  const asked = messagesOfRun(database, run).find(({ role }) => role === 'user');
  if (!asked) return;
  const before = Buffer.byteLength(JSON.stringify(asked.payload));
  const payload = JSON.stringify({ ...asked.payload, attachments });
  database.run('UPDATE messages SET payload = ? WHERE id = ?', payload, asked.id);
  growSession(database, run.sessionKey, Buffer.byteLength(payload) - before, 0);
}

/** Takes everything a run has added but the user's message away; only inside `database.write`. */
export function removeStepMessages(
  database: Database,
  { sessionKey, runId }: { sessionKey: string; runId: string },
): void {
  const removed = database
    .all(
      `DELETE FROM messages WHERE session_key = ? AND run_id = ? AND role <> 'user' RETURNING payload`,
      sessionKey,
      runId,
    )
    .map((row) => Buffer.byteLength(payloadTextSchema.parse(row).payload));
  const bytes = removed.reduce((sum, size) => sum + size, 0);
  if (bytes > 0) growSession(database, sessionKey, -bytes, 0);
}

const payloadTextSchema = z.object({ payload: z.string() });

const contextRowSchema = z
  .tuple([
    z.number(),
    rowSchema.shape.role,
    z.string(),
    z.array(toolCallSchema).nullable(),
    z.string().nullable(),
    z.string().nullable(),
    z.array(messageFileSchema).nullable(),
  ])
  .transform(([id, role, text, toolCalls, toolCallId, toolName, files]) => ({
    id,
    message: contextMessage(role, {
      text,
      ...(toolCalls && { toolCalls }),
      ...(toolCallId !== null && { toolCallId }),
      ...(toolName !== null && { toolName }),
      ...(files && { attachments: files }),
    }),
  }));
const contextSchema = z.object({
  messages: z
    .string()
    .transform((json): unknown => JSON.parse(json))
    .pipe(z.array(contextRowSchema)),
});

/** One message as the model is given it. */
export type ContextMessage =
  | { role: 'user'; text: string; files?: MessageFile[] }
  | { role: 'assistant'; text: string; toolCalls?: ToolCall[] }
  | { role: 'tool'; text: string; toolCallId: string; toolName: string };

/** Some messages of a session for the model, oldest first. */
export interface ContextPage {
  messages: ContextMessage[];
  /** Id of the oldest message that was read; null when there is none before it. */
  before: number | null;
}

/**
 * The newest `limit` messages of a session before the event id `before`, for the model. An answer without text or calls
 * is left out. Each turn reads this, so only what is needed is taken out of the rows, and all of it comes as one value.
 */
export function contextMessages(
  database: Database,
  sessionKey: string,
  { limit, before = Number.MAX_SAFE_INTEGER }: { limit: number; before?: number },
): ContextPage {
  const row = database.get(
    `SELECT json_group_array(json_array(id, role, payload ->> '$.text', payload -> '$.toolCalls',
         payload ->> '$.toolCallId', payload ->> '$.toolName', payload -> '$.attachments')) AS messages FROM
       (SELECT id, role, payload FROM messages WHERE session_key = ? AND id < ? ORDER BY id DESC LIMIT ?)`,
    sessionKey,
    before,
    limit,
  );
  const rows = contextSchema.parse(row).messages.sort((a, b) => a.id - b.id);
  return {
    messages: rows.flatMap(({ message }) => (saysNothing(message) ? [] : [message])),
    before: rows.length < limit ? null : (rows[0]?.id ?? null),
  };
}

function contextMessage(role: MessageRow['role'], payload: Payload): ContextMessage {
  const { text, attachments, toolCalls = [], toolCallId = '', toolName = '' } = payload;
  switch (role) {
    case 'user':
      return { role, text, ...(attachments && { files: attachments }) };
    case 'assistant':
      return { role, text, ...(toolCalls.length > 0 && { toolCalls }) };
    case 'tool':
      return { role, text, toolCallId, toolName };
  }
}

function saysNothing(message: ContextMessage): boolean {
  if (message.role === 'tool' || message.text !== '') return false;
  return message.role === 'user' ? message.files === undefined : message.toolCalls === undefined;
}
