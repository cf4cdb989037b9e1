import {
  groupSessionKey,
  type GroupMessage,
  type StepAborted,
  type StepGiven,
} from '@flowly/contract';
import { jobId } from '@flowly/bus';
import { addBotAbort, addBotTurn } from '@flowly/delivery';
import {
  contextFor,
  disabledTools,
  memberPrompt,
  stepFiles,
  type GroupMember,
  type StoredRun,
} from '@flowly/groups';
import {
  pendingRemovals,
  type GroupReader,
  type GroupRecord,
  type GroupStore,
} from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { removalJob } from '../sessions/remove-sessions';
import type { Step } from './run-steps';

/** A group whose run is going, and what is needed to give steps of it. */
export interface RunningGroup {
  group: GroupRecord & { run: StoredRun };
  /** Who was called by the user's message, in member order. */
  responders: readonly string[];
  members: readonly GroupMember[];
}

/**
 * Gives a member its step, as a job that follows from the commit. What it reads is decided by its watermark and
 * its boundary alone, so that giving it again says the same (groups.md §5).
 */
export function addStep(
  store: GroupStore,
  groups: GroupReader,
  running: RunningGroup,
  step: Step,
  attempt: number,
): void {
  const { group, responders } = running;
  const { mode } = group.run;
  addBotTurn(store.database, jobId('step', step.stepKey, String(attempt)), {
    type: 'step',
    ...stepRef(group, step),
    prompt: promptFor(groups, running, step.member),
    ...removalsBefore(store, group.id, step.member),
    disabledTools: disabledTools(step.member, { mode, members: group.members, responders }),
    ...filesOf(groups, group),
  } satisfies StepGiven);
}

/** Earlier sessions of this member that may not be gone yet: the step comes after them. */
function removalsBefore(
  { database }: GroupStore,
  groupId: string,
  member: string,
): Pick<StepGiven, 'removals'> {
  const pending = pendingRemovals(database, groupId, member);
  return pending.length > 0 ? { removals: pending.map(removalJob) } : {};
}

/** Whether a member has something to read that it did not write itself. */
export function hasNews(groups: GroupReader, group: GroupRecord, member: string): boolean {
  return contextOf(groups, group, member, group.live).length > 0;
}

/** Orders the end of a step; repeated orders are jobs of their own. */
export function addAbort(
  store: GroupStore,
  groupId: string,
  runId: string,
  step: Step,
  attempt: number,
): void {
  addBotAbort(store.database, jobId('abort', step.stepKey, String(attempt)), {
    type: 'abort',
    ...stepRef({ id: groupId, run: { id: runId } }, step),
  } satisfies StepAborted);
}

function stepRef(group: { id: string; run: { id: string } }, { member, stepKey }: Step) {
  const sessionKey = groupSessionKey(group.id);
  return { stepKey, groupId: group.id, runId: group.run.id, bot: member, sessionKey };
}

function promptFor(groups: GroupReader, { group, members }: RunningGroup, member: string): string {
  const boundary = group.run.members[member]?.boundary ?? group.live;
  return memberPrompt({
    groupTitle: group.title,
    mode: group.run.mode,
    members,
    member,
    context: contextOf(groups, group, member, boundary),
  });
}

/** The files of the message that began the run; in a council only the first round has them (groups.md §5). */
function filesOf(
  groups: GroupReader,
  group: RunningGroup['group'],
): Pick<StepGiven, 'attachments'> {
  if (group.run.round > 1) return {};
  const attachments = stepFiles(groups.newestUserMessage(group.id)?.attachments ?? []);
  return attachments.length > 0 ? { attachments } : {};
}

/** What a member has to read, up to a boundary of the live window. */
function contextOf(
  groups: GroupReader,
  group: GroupRecord,
  member: string,
  boundary: number,
): GroupMessage[] {
  const watermark = group.watermarks[member] ?? 0;
  const unread = groups.newestMessages(group.id, group.live - watermark);
  return contextFor({ window: unread.slice(0, boundary - watermark), watermark: 0, member });
}

/** The members with the names they are shown by; a member whose bot is gone keeps its own. */
export function membersOf({ bot }: Orchestrator, group: GroupRecord): GroupMember[] {
  return group.members.map((name) => bot(name) ?? { name, displayName: '' });
}
