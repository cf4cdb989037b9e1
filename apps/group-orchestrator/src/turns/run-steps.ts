import type { Responders } from '@flowly/groups';
import { z } from 'zod';

/**
 * What the next step of a run needs beyond the run itself, stored with it in `ext_runs` (groups.md §5). Times in
 * Unix ms.
 */
const stepSchema = z.object({
  member: z.string(),
  /** When the step was last given to its bot. */
  givenAt: z.number(),
  /** When it was first given. */
  firstGivenAt: z.number(),
  acceptedAt: z.number().nullable(),
  /** The bot's end of it has come. */
  ended: z.boolean(),
  /** The group wants it ended; repeated until it has. */
  aborting: z.boolean(),
  /** Requests of it that are over, oldest first: an opening that comes after its close opens nothing (groups.md §7). */
  closedRequests: z.array(z.string()).optional(),
  /** How often its bot has told of it without its open request. */
  unconfirmed: z.number().optional(),
});
export type RunStepState = z.infer<typeof stepSchema>;

export const runStepsSchema = z.object({
  /** Who was called by the user's message, in member order. */
  responders: z.array(z.string()).default([]),
  /** The user named certain members. */
  directed: z.boolean(),
  /** Members still to speak in this round, and those called for the next (council). */
  queue: z.array(z.string()),
  next: z.array(z.string()),
  steps: z.record(z.string(), stepSchema),
});
export type RunSteps = z.infer<typeof runStepsSchema>;

/** A step as it is given to its bot. */
export interface Step {
  member: string;
  stepKey: string;
}

/** The state of a run that has given no step yet. */
export function newRunSteps({ responders, directed }: Responders): RunSteps {
  return { responders, directed, queue: [], next: [], steps: {} };
}

/** With a step that is given now, in Unix ms. */
export function withStep(steps: RunSteps, { member, stepKey }: Step, at: number): RunSteps {
  const given: RunStepState = {
    member,
    givenAt: at,
    firstGivenAt: at,
    acceptedAt: null,
    ended: false,
    aborting: false,
  };
  return { ...steps, steps: { ...steps.steps, [stepKey]: given } };
}

/** What is stored for a run; null when another program wrote the run, or a row has an unknown shape. */
export function readRunSteps(stored: unknown): RunSteps | null {
  const parsed = runStepsSchema.safeParse(stored);
  return parsed.success ? parsed.data : null;
}

/** The steps with one of them changed; unchanged when there is no such step. */
export function changeStep(
  steps: RunSteps,
  stepKey: string,
  change: Partial<RunStepState>,
): RunSteps {
  const step = steps.steps[stepKey];
  if (!step) return steps;
  return { ...steps, steps: { ...steps.steps, [stepKey]: { ...step, ...change } } };
}

/** Whether nothing of the run is awaited from any bot. */
export function allEnded(steps: RunSteps): boolean {
  return Object.values(steps.steps).every((step) => step.ended);
}
