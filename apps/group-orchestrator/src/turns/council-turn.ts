import { councilStepKey, nextTurn, turnGiven, turnsSkipped, type StoredRun } from '@flowly/groups';
import type { GroupReader, GroupRecord } from '@flowly/store';
import { hasNews } from './give-step';
import { withStep, type RunSteps, type Step } from './run-steps';

/** Where a council stands after its last turn. */
export interface CouncilTurn {
  run: StoredRun;
  steps: RunSteps;
  /** To be given now; null when the council is over. */
  step: Step | null;
}

/** Whose turn it is, of what is stored (design rule 6). Writes nothing. */
export function councilTurn(
  groups: GroupReader,
  group: GroupRecord & { run: StoredRun },
  steps: RunSteps,
  at: Date,
): CouncilTurn {
  const now = at.toISOString();
  const next = nextTurn(steps, group.run, (member) => hasNews(groups, group, member));
  const run = turnsSkipped(group.run, next.skipped, now);
  if (next.kind === 'over') return { run, steps: { ...steps, queue: [], next: [] }, step: null };
  const { member, round, turn } = next;
  const step = { member, stepKey: councilStepKey(run.id, round, turn, member) };
  return {
    run: turnGiven(run, { member, round, turn, boundary: group.live, at: now }),
    steps: withStep({ ...steps, ...next.plan }, step, at.getTime()),
    step,
  };
}
