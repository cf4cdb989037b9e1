import type { GroupAttachment, Readiness, StepEnded } from '@flowly/contract';
import { faultPoint } from '@flowly/faults';
import {
  endedLate,
  isActive,
  isRunning,
  memberOfStep,
  turnEnd,
  type StoredRun,
  type TurnEnd,
} from '@flowly/groups';
import type { GroupRecord, GroupTransaction } from '@flowly/store';
import { withReplyFiles } from '../files/reply-files';
import { assertThere } from '../files/with-files';
import type { Orchestrator } from '../orchestrator';
import { addGroupEvent } from '../views/group-event';
import { endMember } from './end-member';
import { allEnded, changeStep, readRunSteps } from './run-steps';

/** The end of a step whose files are the group's already. */
type CopiedEnd = Omit<StepEnded, 'attachments'> & { attachments: GroupAttachment[] };

/** The first end of a step counts; a repeated one, or one of an older run, changes nothing (groups.md §5). */
export async function stepEnded(orchestrator: Orchestrator, job: StepEnded): Promise<void> {
  const { store } = orchestrator;
  faultPoint('end-taken');
  await withReplyFiles(orchestrator, job, (attachments) =>
    store.transaction((groups) => decideEnd(orchestrator, groups, job, attachments), {
      unlimited: true,
    }),
  );
  faultPoint('end-committed');
}

function decideEnd(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  job: StepEnded,
  attachments: GroupAttachment[],
): void {
  const group = groups.findGroup(job.groupId);
  if (!group) return;
  assertThere(orchestrator, attachments);
  const { run } = group;
  const end = { ...job, attachments };
  const newest =
    run?.id === job.runId ? applyEnd(orchestrator, groups, { ...group, run }, end) : null;
  noteEnded(groups, job, newest ?? group);
}

function applyEnd(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  job: CopiedEnd,
): GroupRecord | null {
  const member = memberOfStep(group.run, job.stepKey);
  const entry = member === null ? undefined : group.run.members[member];
  if (member === null || !entry) return null;
  const at = new Date().toISOString();
  if (isRunning(group.run) && isActive(entry.state)) {
    const end = turnEnd(job);
    return endMember(orchestrator, groups, group, {
      member,
      stepKey: job.stepKey,
      end,
      at,
      durationMs: job.durationMs,
      usage: { model: job.model, usage: job.usage },
      ...(entry.state === 'queued' && { readiness: readinessBy(job, end, at) }),
    });
  }
  const late = endedLate(group.run, member, job, at);
  if (late === group.run) return null;
  const stored = groups.updateGroup({ ...group, run: late });
  addGroupEvent(orchestrator.store, groups, stored, { type: 'late-result', profile: member });
  return stored;
}

/** An end that comes before its acceptance counts as both, unless the bot could not take the step at all. */
function readinessBy({ errorCode }: CopiedEnd, end: TurnEnd, updatedAt: string): Readiness {
  const couldNot = errorCode === 'PROFILE_NOT_FOUND' || errorCode === 'PROFILE_STOPPED';
  return couldNot && end.kind === 'failed'
    ? { state: 'error', updatedAt, error: end.text }
    : { state: 'ready', updatedAt, error: '' };
}

/** A run is forgotten when nothing of it is awaited any more. */
function noteEnded(groups: GroupTransaction, job: StepEnded, group: GroupRecord): void {
  const steps = readRunSteps(groups.readRunState(group.id, job.runId));
  if (!steps) return;
  const next = changeStep(steps, job.stepKey, { ended: true, aborting: false });
  const going = group.run?.id === job.runId && isRunning(group.run);
  if (going || !allEnded(next)) groups.saveRunState(group.id, job.runId, next);
  else {
    groups.deleteRunState(group.id, job.runId);
    faultPoint('run-forgotten');
  }
}
