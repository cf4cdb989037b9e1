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
});
export type RunStepState = z.infer<typeof stepSchema>;

export const runStepsSchema = z.object({
  /** The user named certain members. */
  directed: z.boolean(),
  /** Members still to speak in this round, and those called for the next (council). */
  queue: z.array(z.string()),
  next: z.array(z.string()),
  steps: z.record(z.string(), stepSchema),
});
export type RunSteps = z.infer<typeof runStepsSchema>;

/** The steps of a panel: all given at once. */
export function panelSteps(
  steps: { member: string; stepKey: string }[],
  directed: boolean,
  at: number,
): RunSteps {
  return {
    directed,
    queue: [],
    next: [],
    steps: Object.fromEntries(
      steps.map(({ member, stepKey }) => [
        stepKey,
        {
          member,
          givenAt: at,
          firstGivenAt: at,
          acceptedAt: null,
          ended: false,
          aborting: false,
        },
      ]),
    ),
  };
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
