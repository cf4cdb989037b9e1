import type { StepEnded } from '@flowly/contract';
import {
  endedLate,
  isActive,
  isRunning,
  memberOfStep,
  turnEnd,
  type StoredRun,
} from '@flowly/groups';
import type { GroupRecord, GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { addGroupEvent } from '../views/group-event';
import { endMember } from './end-member';
import { allEnded, changeStep, readRunSteps } from './run-steps';

/** The first end of a step counts; a repeated one, or one of an older run, changes nothing (groups.md §5). */
export async function stepEnded(orchestrator: Orchestrator, job: StepEnded): Promise<void> {
  const { store } = orchestrator;
  await store.transaction(
    (groups) => {
      const group = groups.findGroup(job.groupId);
      if (!group) return;
      const { run } = group;
      const newest =
        run?.id === job.runId ? applyEnd(orchestrator, groups, { ...group, run }, job) : null;
      noteEnded(groups, job, newest ?? group);
    },
    { unlimited: true },
  );
}

function applyEnd(
  { store }: Orchestrator,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  job: StepEnded,
): GroupRecord | null {
  const member = memberOfStep(group.run, job.stepKey);
  const entry = member === null ? undefined : group.run.members[member];
  if (member === null || !entry) return null;
  const at = new Date().toISOString();
  if (isRunning(group.run) && isActive(entry.state)) {
    return endMember(store, groups, group, {
      member,
      stepKey: job.stepKey,
      end: turnEnd(job),
      at,
      durationMs: job.durationMs,
      usage: { model: job.model, usage: job.usage },
      // An end that comes before its acceptance counts as both.
      ...(entry.state === 'queued' && { readiness: { state: 'ready', updatedAt: at, error: '' } }),
    });
  }
  const late = endedLate(group.run, member, job, at);
  if (late === group.run) return null;
  const stored = groups.updateGroup({ ...group, run: late });
  addGroupEvent(store, groups, stored, { type: 'late-result', profile: member });
  return stored;
}

/** A run is forgotten when nothing of it is awaited any more. */
function noteEnded(groups: GroupTransaction, job: StepEnded, group: GroupRecord): void {
  const steps = readRunSteps(groups.readRunState(group.id, job.runId));
  if (!steps) return;
  const next = changeStep(steps, job.stepKey, { ended: true, aborting: false });
  const going = group.run?.id === job.runId && isRunning(group.run);
  if (going || !allEnded(next)) groups.saveRunState(group.id, job.runId, next);
  else groups.deleteRunState(group.id, job.runId);
}
