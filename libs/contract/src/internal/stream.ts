import { z } from 'zod';
import { groupMessageSchema, storedGroupViewSchema } from '../group';
import { groupSnapshotTypeSchema } from '../events';

/** Entries of the event stream, as the gateways read them. */

/** A group's event as its commit wrote it: without messages, streams, activities and readiness. */
export const groupStreamEventSchema = z.object({
  kind: z.literal('group'),
  groupId: z.string(),
  type: groupSnapshotTypeSchema,
  profile: z.string().optional(),
  error: z.string().optional(),
  room: storedGroupViewSchema.optional(),
  appended: z.array(groupMessageSchema).optional(),
  windowFirstSeq: z.number().int().optional(),
  lastSeq: z.number().int().optional(),
});
export type GroupStreamEvent = z.infer<typeof groupStreamEventSchema>;

/** An event of a bot; `sessionKey` null means it concerns the bot or the directory as a whole. */
export const botStreamEventSchema = z.object({
  kind: z.literal('bot'),
  bot: z.string(),
  botId: z.string(),
  sessionKey: z.string().nullable(),
  type: z.enum(['chat', 'directory']),
  data: z.record(z.string(), z.unknown()),
});
export type BotStreamEvent = z.infer<typeof botStreamEventSchema>;

/** The next piece of a run's text; `offset` counts UTF-16 units of the text before it. */
export const pieceSchema = z.object({
  kind: z.literal('piece'),
  bot: z.string(),
  botId: z.string(),
  sessionKey: z.string(),
  runId: z.string(),
  groupId: z.string().optional(),
  offset: z.number().int(),
  text: z.string(),
});
export type Piece = z.infer<typeof pieceSchema>;

export const streamEventSchema = z.discriminatedUnion('kind', [
  groupStreamEventSchema,
  botStreamEventSchema,
  pieceSchema,
]);
export type StreamEvent = z.infer<typeof streamEventSchema>;
