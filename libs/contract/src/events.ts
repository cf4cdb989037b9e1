import { z } from 'zod';
import { botDescriptorSchema } from './bot';
import { messageFileSchema } from './chat';
import { groupMessageSchema, groupPatchSchema, groupViewSchema } from './group';
import {
  approvalClosedSchema,
  approvalSchema,
  clarifyClosedSchema,
  clarifySchema,
  needsInputSchema,
} from './requests';
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
    attachments: z.array(messageFileSchema).optional(),
  }),
  /** Tokens the model was given with its last question, as its provider counts them. */
  contextTokens: z.number().int().optional(),
  /** Tokens the model can be given at all, where that is known. */
  contextWindow: z.number().int().optional(),
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

/** A step of an answer: one of the assistant's moves the text so far out of the live bubble (bots.md §3.3). */
export const chatIterationStepSchema = z.object({
  state: z.literal('iteration_step'),
  runId: z.string(),
  sessionKey: z.string(),
  iterationIdx: z.number().int(),
  role: z.enum(['assistant', 'tool']),
  content: z.string(),
  tool_calls: z.array(z.unknown()).optional(),
  tool_call_id: z.string().optional(),
  name: z.string().optional(),
});

export type ChatIterationStep = z.infer<typeof chatIterationStepSchema>;

/** How far a tool call has come; the highest revision of a run counts. */
export const chatToolProgressSchema = z.object({
  state: z.literal('tool_progress'),
  runId: z.string(),
  sessionKey: z.string(),
  iterationIdx: z.number().int(),
  revision: z.number().int(),
  call: z.object({
    id: z.string(),
    index: z.number().int(),
    name: z.string().max(128),
    arguments: z.string(),
    argumentsTruncated: z.boolean(),
    state: z.enum(['preparing', 'queued', 'running', 'completed', 'failed', 'stopped']),
    /** Unix ms. */
    startedAt: z.number().optional(),
    completedAt: z.number().optional(),
    result: z.string().max(32_768).optional(),
    resultTruncated: z.boolean().optional(),
  }),
});
export type ChatToolProgress = z.infer<typeof chatToolProgressSchema>;

export const chatEventSchema = z.discriminatedUnion('state', [
  chatFinalSchema,
  chatErrorSchema,
  chatIterationStepSchema,
  chatToolProgressSchema,
]);
export type ChatEvent = z.infer<typeof chatEventSchema>;

/** A tool of the default bot begins and ends, for every socket. */
export const toolStartSchema = z.object({
  toolCallId: z.string(),
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  sessionKey: z.string(),
});

export const toolCompleteSchema = z.object({
  toolCallId: z.string(),
  name: z.string(),
  success: z.boolean(),
  durationMs: z.number(),
  preview: z.string().max(200),
  sessionKey: z.string(),
});

/** Host events of a bot (wire.md §5.2). */
export const directoryEventSchema = z.union([
  z.object({ action: z.enum(['created', 'updated']), profile: botDescriptorSchema }),
  z.object({ action: z.literal('deleted'), botId: z.string() }),
]);

/** How a bot stands (bots.md §2, `profiles.connect` and `profiles.stop`). */
export const connectionEventSchema = z.object({
  state: z.enum(['starting', 'connected', 'stopped', 'error']),
  byUser: z.literal(true).optional(),
});
export type ConnectionEvent = z.infer<typeof connectionEventSchema>;

export const botEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('agent'), data: agentEventSchema }),
  z.object({ type: z.literal('chat'), data: chatEventSchema }),
  z.object({ type: z.literal('directory'), data: directoryEventSchema }),
  z.object({ type: z.literal('connection'), data: connectionEventSchema }),
  z.object({ type: z.literal('error'), data: z.object({ message: z.string() }) }),
  z.object({
    type: z.literal('needsInput'),
    data: z.object({ needsInput: needsInputSchema.nullable() }),
  }),
  z.object({ type: z.literal('tool.start'), data: toolStartSchema }),
  z.object({ type: z.literal('tool.complete'), data: toolCompleteSchema }),
  z.object({ type: z.literal('exec.approval.requested'), data: approvalSchema }),
  z.object({ type: z.literal('exec.approval.closed'), data: approvalClosedSchema }),
  z.object({ type: z.literal('agent.clarify.requested'), data: clarifySchema }),
  z.object({ type: z.literal('agent.clarify.closed'), data: clarifyClosedSchema }),
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
  'tool.start': toolStartSchema,
  'tool.complete': toolCompleteSchema,
  'exec.approval.requested': approvalSchema,
  'exec.approval.closed': approvalClosedSchema,
  'agent.clarify.requested': clarifySchema,
  'agent.clarify.closed': clarifyClosedSchema,
  'profile.event': profileEventSchema,
  'profile.room': groupEventSchema,
  tick: z.undefined(),
  'gateway.stopping': z.object({ restarting: z.boolean() }),
} as const;
export type EventName = keyof typeof eventSchemas;
export type EventData<N extends EventName> = z.infer<(typeof eventSchemas)[N]>;
