import { z } from 'zod';
import { groupAttachmentSchema, toolCallSchema } from '../group';
import { approvalDecisionSchema } from '../requests';
import { usageSchema } from '../usage';

/** Orchestrator and runner talk by these jobs only (design rule 2); none has a reply. */

const stepRef = {
  /** Idempotency key of the step, which is also the run id at the bot (groups.md §5). */
  stepKey: z.string(),
  groupId: z.string(),
  /** Run of the group the step belongs to. */
  runId: z.string(),
  /** Name of the member. */
  bot: z.string(),
};

/** A file of the message a step answers: in the groups' media, or elsewhere on the web. Never its bytes. */
export const stepFileSchema = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  kind: groupAttachmentSchema.shape.kind,
  mediaId: z.string().optional(),
  cdnUrl: z.string().optional(),
});
export type StepFile = z.infer<typeof stepFileSchema>;

/** A file of an answer, in the media folder of its bot. */
export const replyFileSchema = z.object({
  mediaId: z.string(),
  fileName: z.string().optional(),
  mimeType: z.string().optional(),
});
export type ReplyFile = z.infer<typeof replyFileSchema>;

/**
 * Orchestrator → runner: a group has left a bot, or the bot its group, and with it goes their private session
 * (groups.md §9). It starts no turn and is repeated until it is done.
 */
export const sessionRemovalSchema = z.object({
  type: z.literal('remove-session'),
  removalId: z.string(),
  groupId: z.string(),
  bot: z.string(),
  sessionKey: z.string(),
  /** Unix ms of the decision: a session that was made later is another one and stays. */
  at: z.number(),
  /** Steps whose end was still awaited; one that has not come yet must not begin. */
  steps: z.array(z.object({ stepKey: z.string(), runId: z.string() })),
});
export type SessionRemoval = z.infer<typeof sessionRemovalSchema>;

/** Orchestrator → runner: say which groups' private sessions there are. */
export const sessionsAskedSchema = z.object({ type: z.literal('list-sessions') });
export type SessionsAsked = z.infer<typeof sessionsAskedSchema>;

/** Orchestrator → runner: answer in a group. */
export const stepGivenSchema = z.object({
  type: z.literal('step'),
  ...stepRef,
  sessionKey: z.string(),
  prompt: z.string(),
  disabledTools: z.array(z.string()),
  attachments: z.array(stepFileSchema).optional(),
  /** Removals of earlier sessions of this group that may not be done yet: they come before the step. */
  removals: z.array(sessionRemovalSchema).optional(),
});
export type StepGiven = z.infer<typeof stepGivenSchema>;

/** Orchestrator → runner: end this step, also when it has not come yet. */
export const stepAbortedSchema = z.object({
  type: z.literal('abort'),
  ...stepRef,
  sessionKey: z.string(),
});
export type StepAborted = z.infer<typeof stepAbortedSchema>;

/** Runner → orchestrator: the step has its row at the bot. */
export const stepAcceptedSchema = z.object({
  type: z.literal('accepted'),
  ...stepRef,
  /** Unix ms. */
  at: z.number(),
});
export type StepAccepted = z.infer<typeof stepAcceptedSchema>;

/** Runner → orchestrator: the step has ended; exactly one content per step key. */
export const stepEndedSchema = z.object({
  type: z.literal('ended'),
  ...stepRef,
  state: z.enum(['final', 'error']),
  text: z.string(),
  aborted: z.boolean(),
  toolCalls: z.array(toolCallSchema),
  usage: usageSchema.nullable(),
  model: z.string(),
  durationMs: z.number(),
  errorCode: z.string().optional(),
  errorMessage: z.string().optional(),
  /** Files of the answer beside those its text names. */
  attachments: z.array(replyFileSchema).optional(),
});
export type StepEnded = z.infer<typeof stepEndedSchema>;

const requestRef = {
  ...stepRef,
  /** Id of the bot's approval or question. */
  requestId: z.string(),
  kind: z.enum(['approval', 'clarify']),
};

/**
 * Runner → orchestrator: the step waits for a person (groups.md §7). Told again, while it is open, whenever the step's
 * acceptance is: one that is not told along with it several times is taken for closed.
 */
export const requestOpenedSchema = z.object({
  type: z.literal('request-opened'),
  ...requestRef,
  request: z.looseObject({
    id: z.string(),
    command: z.string().optional(),
    question: z.string().optional(),
    choices: z.array(z.string()).nullable().optional(),
    /** Unix seconds. */
    expiresAt: z.number().optional(),
    sessionKey: z.string().optional(),
  }),
  /** Unix ms. */
  at: z.number(),
});
export type RequestOpened = z.infer<typeof requestOpenedSchema>;

/** Runner → orchestrator: the request is decided, expired or given up; also the answer to a resolve that came to nothing. */
export const requestClosedSchema = z.object({
  type: z.literal('request-closed'),
  ...requestRef,
  /** Unix ms. */
  at: z.number(),
});
export type RequestClosed = z.infer<typeof requestClosedSchema>;

/** A client's call whose answer is added to its gateway's replies. */
const waitingCommandSchema = z.object({ id: z.string(), gateway: z.string() });

/** Orchestrator → runner: what a person decided in the group; a decision for an approval, an answer for a question. */
export const requestResolveSchema = z.object({
  type: z.literal('resolve'),
  ...requestRef,
  sessionKey: z.string(),
  decision: approvalDecisionSchema.optional(),
  answer: z.string().optional(),
  /** The call that waits for what this comes to; delivered again it has the same outcome. */
  command: waitingCommandSchema,
});
export type RequestResolve = z.infer<typeof requestResolveSchema>;

/**
 * Runner → orchestrator: what a resolve came to, committed with the decision itself. Not `taken` when the request was
 * unknown, decided or expired, which a `request-closed` follows.
 */
export const requestResolvedSchema = z.object({
  type: z.literal('resolved'),
  ...requestRef,
  command: waitingCommandSchema,
  taken: z.boolean(),
  /** Unix ms. */
  at: z.number(),
});
export type RequestResolved = z.infer<typeof requestResolvedSchema>;

/** Runner → orchestrator: the private session is gone. */
export const sessionRemovedSchema = z.object({
  type: z.literal('session-removed'),
  removalId: z.string(),
  groupId: z.string(),
  bot: z.string(),
});
export type SessionRemoved = z.infer<typeof sessionRemovedSchema>;

/** Runner → orchestrator: the groups that have a private session at a bot. */
export const sessionsToldSchema = z.object({
  type: z.literal('sessions'),
  bot: z.string(),
  groupIds: z.array(z.string()),
});
export type SessionsTold = z.infer<typeof sessionsToldSchema>;

/**
 * Runner → orchestrator: a bot is being deleted and leaves every group (groups.md §9). Told again until it is heard
 * that it has.
 */
export const botDeletedSchema = z.object({
  type: z.literal('bot-deleted'),
  bot: z.string(),
  botId: z.string(),
});
export type BotDeleted = z.infer<typeof botDeletedSchema>;

/** Orchestrator → runner: the bot that is being deleted is in no group any more. */
export const botLeftSchema = z.object({
  type: z.literal('bot-left'),
  bot: z.string(),
  botId: z.string(),
});
export type BotLeft = z.infer<typeof botLeftSchema>;

const leavingBot = {
  bot: z.string(),
  botId: z.string(),
  /** The call that waits for what this comes to. */
  command: waitingCommandSchema,
};

/**
 * Runner → orchestrator: the owner stops this bot, so the groups in which it is at work are to be stopped first
 * (groups.md §5). Told again until `groups-stopped` has come back.
 */
export const botStoppingSchema = z.object({ type: z.literal('bot-stopping'), ...leavingBot });
export type BotStopping = z.infer<typeof botStoppingSchema>;

/** Orchestrator → runner: they are stopped. */
export const groupsStoppedSchema = z.object({ type: z.literal('groups-stopped'), ...leavingBot });
export type GroupsStopped = z.infer<typeof groupsStoppedSchema>;

export const orchestratorJobSchema = z.discriminatedUnion('type', [
  stepAcceptedSchema,
  stepEndedSchema,
  requestOpenedSchema,
  requestClosedSchema,
  requestResolvedSchema,
  sessionRemovedSchema,
  sessionsToldSchema,
  botDeletedSchema,
  botStoppingSchema,
]);
export type OrchestratorJob = z.infer<typeof orchestratorJobSchema>;
