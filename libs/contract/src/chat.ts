import { z } from 'zod';
import { chatAttachmentsSchema } from './attachment';
import { ContractError } from './errors';
import { mediaKindSchema } from './media';
import { absentable, byRule, invalid } from './parse';
import { needsInputSchema } from './requests';
import { remoteSessionKeySchema, straightSessionKeySchema } from './session-key';
import { characters, hasControl, wellFormed } from './text';
import { usageSchema } from './usage';

/** Params and results of the chat methods (bots.md §3.2, §3.3). */

const noHostAccess = byRule((value): undefined => {
  if (value !== undefined && value !== null) {
    throw new ContractError(
      'REMOTE_HOST_ACCESS_DENIED',
      'A client cannot choose a folder or a browser.',
    );
  }
  return undefined;
});

/** Text of a message: at most 32,000 characters; lone surrogates become U+FFFD. */
const messageSchema = byRule((value): string => {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') invalid('The message must be text.');
  if (characters(value) > 32_000) invalid('The message is longer than 32,000 characters.');
  if (value.includes('\0')) invalid('The message holds a NUL.');
  return wellFormed(value);
});

/** 1–128 characters without outer white space or control characters. */
export const idempotencyKeySchema = z
  .string()
  .min(1)
  .refine(
    (key) => characters(key) <= 128 && key === key.trim() && !hasControl(key),
    'at most 128 characters, no outer white space or control characters',
  )
  .transform(wellFormed);

const modelSchema = z.string().max(256);

/** The order of the keys is the order of checks of bots.md §3.3. */
function chatSend<S extends z.ZodType>(sessionKey: S, attachmentBytes: number) {
  return z
    .object({
      sessionKey,
      cwd: noHostAccess,
      browserAccess: noHostAccess,
      attachments: chatAttachmentsSchema(attachmentBytes),
      message: messageSchema,
      idempotencyKey: absentable(idempotencyKeySchema),
      modelOverride: absentable(modelSchema),
      thinking: z.unknown().optional(),
      queueForNextTurn: z.unknown().optional(),
      profileMentions: absentable(z.array(z.string())),
    })
    .refine((params) => params.message.trim() !== '' || params.attachments.length > 0, {
      message: 'The message cannot be empty.',
      path: ['message'],
    });
}

/**
 * Params of `chat.send` by the way it came in, where a file may have this many bytes. Straight on the socket a missing
 * key means the client's own session, put in by the edge.
 */
export function chatSendParams(way: CallWay, attachmentBytes: number) {
  const known = sendSchemas.get(attachmentBytes) ?? {
    rpc: chatSend(remoteSessionKeySchema, attachmentBytes),
    straight: chatSend(straightSessionKeySchema, attachmentBytes),
  };
  sendSchemas.set(attachmentBytes, known);
  return known[way];
}
type SendSchemas = Record<CallWay, ReturnType<typeof chatSend<typeof remoteSessionKeySchema>>>;
/** One entry in a process: making a schema costs more than using it. */
const sendSchemas = new Map<number, SendSchemas>();

/** How a bot method was called: through `profiles.rpc`, or straight on the socket (wire.md §4). */
export type CallWay = 'rpc' | 'straight';

export const receiptStatusSchema = z.enum([
  'accepted',
  'running',
  'completed',
  'aborted',
  'error',
  'status_unknown',
]);
export type ReceiptStatus = z.infer<typeof receiptStatusSchema>;

export const chatSendResultSchema = z.object({
  runId: z.string(),
  status: receiptStatusSchema,
  replayed: z.literal(true).optional(),
});
export type ChatSendResult = z.infer<typeof chatSendResultSchema>;

export const runIdSchema = z.string().min(1).max(256);

export const chatAbortResultSchema = z.union([
  z.object({ ok: z.literal(true), cancelled: z.boolean() }),
  z.object({ aborted: z.literal(false) }),
]);

/** A bad limit of `chat.history` has the cursor's code. */
const historyLimitSchema = byRule((value): number | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > 200) {
    throw new ContractError('INVALID_HISTORY_CURSOR', 'limit must be 1 to 200.');
  }
  return value;
});

/** Longer than that of any session key, in whatever script. */
const MOST_CURSOR = 4_096;

const historyCursorSchema = byRule((value): string | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value === '' || value.length > MOST_CURSOR) {
    throw new ContractError('INVALID_HISTORY_CURSOR', 'The cursor is invalid.');
  }
  return value;
});

export const chatHistoryPageSchema = { limit: historyLimitSchema, before: historyCursorSchema };

/** A file of a user's message, by name: never its bytes. With `mediaId` it is in the bot's media (`media.read`). */
export const messageFileSchema = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  kind: mediaKindSchema,
  mediaId: z.string().optional(),
  /** In bytes. */
  size: z.number().int().optional(),
  /** Of an image, in pixels. */
  width: z.number().int().optional(),
  height: z.number().int().optional(),
  /** Where the client said it is; there is a `mediaId` too once it was fetched. */
  cdnUrl: z.string().optional(),
});
export type MessageFile = z.infer<typeof messageFileSchema>;

export const chatMessageSchema = z.object({
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  id: z.string(),
  runId: z.string().optional(),
  timestamp: z.number(),
  tool_calls: z.array(z.unknown()).optional(),
  tool_call_id: z.string().optional(),
  name: z.string().optional(),
  attachments: z.array(messageFileSchema).optional(),
  usage: usageSchema.optional(),
  aborted: z.literal(true).optional(),
  durationMs: z.number().optional(),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

export const chatHistoryResultSchema = z.object({
  sessionKey: z.string(),
  sessionId: z.string(),
  thinkingLevel: z.null(),
  modelOverride: z.string().nullable(),
  messages: z.array(chatMessageSchema),
  historyPageVersion: z.literal(1).optional(),
  hasOlder: z.boolean().optional(),
  before: z.string().nullable().optional(),
});
export type ChatHistoryResult = z.infer<typeof chatHistoryResultSchema>;

export const sessionRowSchema = z.object({
  key: z.string(),
  sizeBytes: z.number(),
  modifiedAt: z.number(),
  channel: z.string(),
  chatId: z.string(),
  title: z.string().nullable(),
  displayName: z.string(),
  updatedAt: z.number(),
  lastAssistantRunId: z.string().nullable(),
  lastAssistantAt: z.number().nullable(),
  running: z.boolean(),
  needsInput: needsInputSchema.omit({ sessionKey: true }).optional(),
  modelOverride: z.string().nullable(),
});
export type SessionRow = z.infer<typeof sessionRowSchema>;

export const sessionsListParamsSchema = z.object({
  limit: absentable(z.number().int().min(1).max(200)),
  before: absentable(z.string().min(1).max(MOST_CURSOR)),
});

export const sessionsListResultSchema = z.object({
  sessions: z.array(sessionRowSchema),
  next: z.string().optional(),
});
