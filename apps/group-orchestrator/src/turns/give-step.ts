import { groupSessionKey, type StepGiven, type StepAborted } from '@flowly/contract';
import { jobId } from '@flowly/bus';
import { addBotAbort, addBotTurn } from '@flowly/delivery';
import {
  contextFor,
  disabledTools,
  memberPrompt,
  type GroupMember,
  type StoredRun,
} from '@flowly/groups';
import type { GroupReader, GroupRecord, GroupStore } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';

/**
 * Gives a member its step, as a job that follows from the commit. What it reads is decided by its watermark and
 * its boundary alone, so that giving it again says the same (groups.md §5).
 */
export function addStep(
  store: GroupStore,
  groups: GroupReader,
  group: GroupRecord & { run: StoredRun },
  step: { member: string; stepKey: string },
  members: readonly GroupMember[],
  attempt: number,
): void {
  addBotTurn(store.database, jobId('step', step.stepKey, String(attempt)), {
    type: 'step',
    ...stepRef(group, step),
    prompt: promptFor(groups, group, step.member, members),
    disabledTools: disabledTools(step.member, {
      mode: group.run.mode,
      members: group.members,
      responders: Object.keys(group.run.members),
    }),
  } satisfies StepGiven);
}

/** Orders the end of a step; repeated orders are jobs of their own. */
export function addAbort(
  store: GroupStore,
  groupId: string,
  runId: string,
  step: { member: string; stepKey: string },
  attempt: number,
): void {
  addBotAbort(store.database, jobId('abort', step.stepKey, String(attempt)), {
    type: 'abort',
    ...stepRef({ id: groupId, run: { id: runId } }, step),
  } satisfies StepAborted);
}

function stepRef(
  group: { id: string; run: { id: string } },
  { member, stepKey }: { member: string; stepKey: string },
) {
  const sessionKey = groupSessionKey(group.id);
  return { stepKey, groupId: group.id, runId: group.run.id, bot: member, sessionKey };
}

function promptFor(
  groups: GroupReader,
  group: GroupRecord & { run: StoredRun },
  member: string,
  members: readonly GroupMember[],
): string {
  const watermark = group.watermarks[member] ?? 0;
  const boundary = group.run.members[member]?.boundary ?? group.live;
  const unread = groups.newestMessages(group.id, group.live - watermark);
  const context = contextFor({
    window: unread.slice(0, boundary - watermark),
    watermark: 0,
    member,
  });
  return memberPrompt({
    groupTitle: group.title,
    mode: group.run.mode,
    members,
    member,
    context,
  });
}

/** The members with the names they are shown by; a member whose bot is gone keeps its own. */
export function membersOf({ bot }: Orchestrator, group: GroupRecord): GroupMember[] {
  return group.members.map((name) => bot(name) ?? { name, displayName: '' });
}
