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
  type: z.enum([
    'chat',
    'directory',
    'connection',
    'error',
    'needsInput',
    'tool.start',
    'tool.complete',
    'exec.approval.requested',
    'exec.approval.closed',
    'agent.clarify.requested',
    'agent.clarify.closed',
  ]),
  data: z.record(z.string(), z.unknown()),
});
export type BotStreamEvent = z.infer<typeof botStreamEventSchema>;

const liveRunRef = {
  bot: z.string(),
  botId: z.string(),
  sessionKey: z.string(),
  runId: z.string(),
  groupId: z.string().optional(),
};

/** The next piece of a run's text; `offset` counts UTF-16 units of the text before it. */
export const pieceSchema = z.object({
  kind: z.literal('piece'),
  ...liveRunRef,
  offset: z.number().int(),
  text: z.string(),
});
export type Piece = z.infer<typeof pieceSchema>;

/** A tool call of a run at work; its arguments as the model gave them. */
export const liveCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  argumentsJson: z.string(),
  state: z.enum(['running', 'completed']),
  /** Unix ms. */
  startedAt: z.number(),
});
export type LiveCall = z.infer<typeof liveCallSchema>;

/** A tool call of a group's step has begun or ended. */
export const liveActivitySchema = z.object({
  kind: z.literal('activity'),
  ...liveRunRef,
  call: liveCallSchema,
});
export type LiveActivity = z.infer<typeof liveActivitySchema>;

/** The text of a group's step so far is over, because tools follow; with `anew` its calls are too: a later attempt begins. */
export const liveStepSchema = z.object({
  kind: z.literal('step'),
  ...liveRunRef,
  anew: z.literal(true).optional(),
});
export type LiveStep = z.infer<typeof liveStepSchema>;

export const streamEventSchema = z.discriminatedUnion('kind', [
  groupStreamEventSchema,
  botStreamEventSchema,
  pieceSchema,
  liveActivitySchema,
  liveStepSchema,
]);
export type StreamEvent = z.infer<typeof streamEventSchema>;
