import { z } from 'zod';
import { botDescriptorSchema } from './bot';
import { groupMessageSchema, groupPatchSchema, groupViewSchema } from './group';
import { usageSchema } from './usage';

/** Events as clients get them (wire.md §5): one typed map from name to payload. */

export const agentEventSchema = z.object({
  runId: z.string(),
  sessionKey: z.string(),
  stream: z.literal('assistant'),
  data: z.object({ text: z.string() }),
});

export const chatFinalSchema = z.object({
  state: z.literal('final'),
  runId: z.string(),
  sessionKey: z.string(),
  model: z.string(),
  completedAt: z.number(),
  durationMs: z.number(),
  message: z.object({
    role: z.literal('assistant'),
    content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
    usage: z.union([usageSchema, z.strictObject({})]),
  }),
  aborted: z.literal(true).optional(),
});

export const chatErrorSchema = z.object({
  state: z.literal('error'),
  runId: z.string(),
  sessionKey: z.string(),
  model: z.string().optional(),
  errorCode: z.string(),
  errorTitle: z.string(),
  errorMessage: z.string(),
  retryable: z.boolean(),
});

/** Resets the live bubble: what a dead attempt had sent is over (bots.md §3.3). */
export const chatIterationStepSchema = z.object({
  state: z.literal('iteration_step'),
  runId: z.string(),
  sessionKey: z.string(),
  iterationIdx: z.number().int(),
  role: z.enum(['assistant', 'tool']),
  content: z.string(),
  tool_calls: z.array(z.unknown()).optional(),
});

export const chatEventSchema = z.discriminatedUnion('state', [
  chatFinalSchema,
  chatErrorSchema,
  chatIterationStepSchema,
]);
export type ChatEvent = z.infer<typeof chatEventSchema>;

/** Host events of a bot (wire.md §5.2). */
export const directoryEventSchema = z.union([
  z.object({ action: z.enum(['created', 'updated']), profile: botDescriptorSchema }),
  z.object({ action: z.literal('deleted'), botId: z.string() }),
]);

export const botEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('agent'), data: agentEventSchema }),
  z.object({ type: z.literal('chat'), data: chatEventSchema }),
  z.object({ type: z.literal('directory'), data: directoryEventSchema }),
]);
export type BotEvent = z.infer<typeof botEventSchema>;

export const profileEventSchema = z
  .object({ hostId: z.string(), profile: z.string(), botId: z.string() })
  .and(botEventSchema);

/** Types of `profile.room` that carry a snapshot (wire.md §5.3). */
export const groupSnapshotTypeSchema = z.enum([
  'updated',
  'readiness',
  'attention',
  'run-state',
  'error',
  'late-result',
  'deleted',
]);
export type GroupSnapshotType = z.infer<typeof groupSnapshotTypeSchema>;

export const groupEventSchema = z.object({
  hostId: z.string(),
  roomId: z.string(),
  type: z.union([groupSnapshotTypeSchema, z.enum(['stream', 'activity'])]),
  profile: z.string().optional(),
  room: groupViewSchema.optional(),
  patch: groupPatchSchema.optional(),
  error: z.string().optional(),
  appended: z.array(groupMessageSchema).optional(),
  windowFirstSeq: z.number().int().optional(),
  lastSeq: z.number().int().optional(),
});
export type GroupEvent = z.infer<typeof groupEventSchema>;

export const eventModeSchema = z.enum(['full-v1', 'delta-v1']);
export type EventMode = z.infer<typeof eventModeSchema>;

/** Every event frame's name and its data. */
export const eventSchemas = {
  agent: agentEventSchema,
  chat: chatEventSchema,
  'profile.event': profileEventSchema,
  'profile.room': groupEventSchema,
  tick: z.undefined(),
  'gateway.stopping': z.object({ restarting: z.boolean() }),
} as const;
export type EventName = keyof typeof eventSchemas;
export type EventData<N extends EventName> = z.infer<(typeof eventSchemas)[N]>;
