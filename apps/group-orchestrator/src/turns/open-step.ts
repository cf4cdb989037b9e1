import { isActive, isRunning, memberOfStep, type StoredRun } from '@flowly/groups';
import type { GroupReader, GroupRecord, GroupTransaction } from '@flowly/store';
import { changeStep, readRunSteps, type RunSteps, type RunStepState } from './run-steps';

/** A step of a running run that its member has not ended. */
export interface OpenStep {
  group: GroupRecord & { run: StoredRun };
  steps: RunSteps;
  step: RunStepState;
  stepKey: string;
  member: string;
}

/** The step a runner tells of; null when it is over, or its run is. */
export function findOpenStep(
  groups: GroupReader,
  { groupId, runId, stepKey }: { groupId: string; runId: string; stepKey: string },
): OpenStep | null {
  const group = groups.findGroup(groupId);
  const run = group?.run;
  if (!group || run?.id !== runId || !isRunning(run)) return null;
  const member = memberOfStep(run, stepKey);
  const entry = member === null ? undefined : run.members[member];
  const steps = readRunSteps(groups.readRunState(groupId, runId));
  const step = steps?.steps[stepKey];
  if (member === null || !entry || !isActive(entry.state) || !steps || !step) return null;
  return { group: { ...group, run }, steps, step, stepKey, member };
}

/** Writes what has changed of a step and of its run. */
export function changeOpenStep(
  groups: GroupTransaction,
  open: OpenStep,
  run: StoredRun,
  change: Partial<RunStepState>,
): OpenStep {
  const { group, stepKey } = open;
  const steps = changeStep(open.steps, stepKey, change);
  groups.saveRunState(group.id, run.id, steps);
  const stored = run === group.run ? group : groups.updateGroup({ ...group, run });
  return { ...open, group: { ...stored, run }, steps, step: { ...open.step, ...change } };
}
