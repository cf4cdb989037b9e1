import {
  type GroupMessage,
  type GroupMessagePayload,
  groupMessagePayloadSchema,
  isObject,
  keptToolCalls,
  messageAttachmentSchema,
  toolCallSchema,
} from '@flowly/contract';
import { messageWeight, storedContent } from '@flowly/groups';
import { z } from 'zod';
import { parseStored } from './stored-json';

/** Columns that make a message. */
export const MESSAGE_COLUMNS = 'seq, message_id, payload_json';

const rowSchema = z.object({
  seq: z.number().int(),
  message_id: z.string(),
  payload_json: z.string(),
});

/** A field of the wrong shape costs itself, never the message (store.md §3). */
const lenientPayload = z.object({
  role: z.enum(['user', 'assistant']).catch('user'),
  content: z.string().catch(''),
  createdAt: z.string().catch(''),
  profile: z.string().optional().catch(undefined),
  attachments: lenientList(messageAttachmentSchema),
  toolCalls: lenientList(toolCallSchema),
  tools: lenientList(z.string()),
  aborted: z.literal(true).optional().catch(undefined),
  durationMs: z.number().optional().catch(undefined),
});

/** What weighs. */
const weighed = lenientPayload.pick({ content: true, attachments: true, toolCalls: true });
const EMPTY = { content: '' };

/** A row of `room_messages` as a message; null when its payload is no JSON object. */
export function readMessage(row: unknown): GroupMessage | null {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) return null;
  const { seq, message_id: id, payload_json: json } = parsed.data;
  const payload = parseStored(json);
  return isObject(payload) ? { id, seq, ...lenientPayload.parse(payload) } : null;
}

/** Place and weight of a message in the live window. */
export function readWeight(row: unknown): { seq: number; weight: number } {
  const { seq, payload_json: json } = rowSchema.parse(row);
  return { seq, weight: weightOf(parseStored(json)) };
}

/** What a stored message weighs; one that cannot be read weighs as if it were empty. */
export function weightOf(payload: unknown): number {
  return messageWeight(isObject(payload) ? weighed.parse(payload) : EMPTY);
}

/**
 * A message as it may be stored. Other readers of the file are strict, so what they would refuse is
 * mended here whatever made it (store.md §1).
 */
export function storablePayload(message: GroupMessagePayload): GroupMessagePayload {
  const { attachments, toolCalls, tools, ...rest } = groupMessagePayloadSchema.parse(message);
  const calls = keptToolCalls(toolCalls ?? []);
  return {
    ...rest,
    content: storedContent(rest.content),
    ...(attachments?.length ? { attachments } : {}),
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(tools?.length ? { tools } : {}),
  };
}

function lenientList<S extends z.ZodType>(item: S) {
  return z
    .array(item.nullable().catch(null))
    .transform((items) => items.filter((value) => value !== null))
    .optional()
    .catch(undefined);
}
