import { z } from 'zod';
import { chatIterationStepSchema, chatToolProgressSchema } from './events';
import { approvalSchema, clarifySchema } from './requests';

/** Steps of an answer that its snapshot holds at most, the newest. */
export const MOST_ITERATIONS = 600;

/**
 * The answer of a session that is being made (bots.md §3.3). Its steps and tools are the events that told of them, so that a
 * client takes them in as if it had been there.
 */
export const inflightSchema = z.object({
  runId: z.string(),
  /** Since the last step of the assistant. */
  text: z.string(),
  /** The words it answers. */
  user: z.string(),
  iterations: z.array(chatIterationStepSchema).max(MOST_ITERATIONS),
  /** The newest of each call. */
  toolProgress: z.array(chatToolProgressSchema).optional(),
});
export type Inflight = z.infer<typeof inflightSchema>;

export const chatInflightResultSchema = z.object({
  inflight: inflightSchema.nullable(),
  plan: z.null(),
  compaction: z.null(),
  goal: z.null(),
  /** The open ones of this session. */
  approvals: z.array(approvalSchema),
  clarifies: z.array(clarifySchema),
});
export type ChatInflightResult = z.infer<typeof chatInflightResultSchema>;
