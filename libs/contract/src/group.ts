import { z } from 'zod';
import { mediaKindSchema } from './media';
import { groupUsageSchema } from './usage';

/** The objects of groups.md §1. */

export const groupModeSchema = z.enum(['panel', 'council']);
export type GroupMode = z.infer<typeof groupModeSchema>;

export const memberPolicySchema = z.enum(['always', 'mentioned']);
export type MemberPolicy = z.infer<typeof memberPolicySchema>;

export const runStateSchema = z.enum(['running', 'completed', 'partial', 'aborted', 'stranded']);
export const memberRunStateSchema = z.enum([
  'queued',
  'running',
  'needs_user',
  'completed',
  'failed',
  'aborted',
  'stranded',
]);
export type MemberRunState = z.infer<typeof memberRunStateSchema>;

export const attentionSchema = z.object({
  kind: z.enum(['approval', 'clarify']),
  profile: z.string(),
  id: z.string(),
  request: z.record(z.string(), z.unknown()),
});
export type Attention = z.infer<typeof attentionSchema>;

export const lateResultSchema = z.object({
  state: z.enum(['final', 'aborted', 'error']),
  receivedAt: z.string(),
  disposition: z.literal('discarded'),
});

export const runMemberSchema = z.object({
  state: memberRunStateSchema,
  updatedAt: z.string(),
  error: z.string(),
  attention: attentionSchema.optional(),
  lateResult: lateResultSchema.optional(),
});
export type RunMember = z.infer<typeof runMemberSchema>;

export const runSchema = z.object({
  id: z.string(),
  mode: groupModeSchema,
  state: runStateSchema,
  startedAt: z.string(),
  finishedAt: z.string(),
  round: z.number().int(),
  turnCount: z.number().int(),
  members: z.record(z.string(), runMemberSchema),
});
export type Run = z.infer<typeof runSchema>;

export const groupAttachmentSchema = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  kind: mediaKindSchema,
  status: z.enum(['ready', 'failed', 'expired']),
  mediaId: z.string().optional(),
  cdnUrl: z.string().optional(),
  size: z.number().optional(),
  thumbnail: z.string().optional(),
  durationMs: z.number().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
});
export type GroupAttachment = z.infer<typeof groupAttachmentSchema>;

/** A file of a message; one that was imported may be known by its name and type alone (groups.md §9). */
export const messageAttachmentSchema = groupAttachmentSchema.partial({ kind: true, status: true });
export type MessageAttachment = z.infer<typeof messageAttachmentSchema>;

export const toolCallSchema = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  argumentsJson: z.string(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** A message as stored (`payload_json`), without its sequence, which is the column's. */
export const groupMessagePayloadSchema = z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  createdAt: z.string(),
  profile: z.string().optional(),
  attachments: z.array(messageAttachmentSchema).optional(),
  toolCalls: z.array(toolCallSchema).optional(),
  tools: z.array(z.string()).optional(),
  aborted: z.literal(true).optional(),
  durationMs: z.number().optional(),
});
export type GroupMessagePayload = z.infer<typeof groupMessagePayloadSchema>;

export const groupMessageSchema = groupMessagePayloadSchema.extend({
  seq: z.number().int().min(0),
});
export type GroupMessage = z.infer<typeof groupMessageSchema>;

export const latestMessageSchema = groupMessagePayloadSchema.pick({
  id: true,
  role: true,
  content: true,
  createdAt: true,
  profile: true,
  aborted: true,
  durationMs: true,
});

export const activitySchema = z.object({
  id: z.string(),
  profile: z.string(),
  toolName: z.string(),
  argumentsJson: z.string(),
  state: z.enum(['running', 'completed']),
  startedAt: z.number(),
});
export type Activity = z.infer<typeof activitySchema>;

export const readinessSchema = z.object({
  state: z.enum(['idle', 'starting', 'ready', 'error']),
  updatedAt: z.string(),
  error: z.string(),
});
export type Readiness = z.infer<typeof readinessSchema>;

/** The part of a group that the database decides. */
export const storedGroupViewSchema = z.object({
  id: z.string(),
  title: z.string(),
  members: z.array(z.string()),
  memberPolicies: z.record(z.string(), memberPolicySchema),
  mode: groupModeSchema,
  messageCount: z.number().int(),
  latestMessage: latestMessageSchema.nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  running: z.boolean(),
  activeProfiles: z.array(z.string()),
  attentions: z.array(attentionSchema),
  needsUser: z.boolean(),
  runState: runSchema.nullable(),
  usage: groupUsageSchema.nullable(),
});
export type StoredGroupView = z.infer<typeof storedGroupViewSchema>;

/** The part that lives in Redis beside the tokens. */
export const liveGroupViewSchema = z.object({
  streams: z.record(z.string(), z.string()),
  activities: z.array(activitySchema),
  readiness: z.record(z.string(), readinessSchema),
});
export type LiveGroupView = z.infer<typeof liveGroupViewSchema>;

/** A group as a client sees it; `messages` is the live window and is left out when not asked for. */
export const groupViewSchema = storedGroupViewSchema
  .extend(liveGroupViewSchema.shape)
  .extend({ messages: z.array(groupMessageSchema).optional() });
export type GroupView = z.infer<typeof groupViewSchema>;

/** What a `stream` or `activity` event carries (wire.md §5.3). */
export const groupPatchSchema = groupViewSchema.pick({
  running: true,
  activeProfiles: true,
  streams: true,
  activities: true,
  attentions: true,
  needsUser: true,
});
export type GroupPatch = z.infer<typeof groupPatchSchema>;
