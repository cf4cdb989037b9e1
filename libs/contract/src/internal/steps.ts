import { z } from 'zod';
import { toolCallSchema } from '../group';
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

/** Orchestrator → runner: answer in a group. */
export const stepGivenSchema = z.object({
  type: z.literal('step'),
  ...stepRef,
  sessionKey: z.string(),
  prompt: z.string(),
  disabledTools: z.array(z.string()),
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
});
export type StepEnded = z.infer<typeof stepEndedSchema>;

export const orchestratorJobSchema = z.discriminatedUnion('type', [
  stepAcceptedSchema,
  stepEndedSchema,
]);
export type OrchestratorJob = z.infer<typeof orchestratorJobSchema>;
