import { deriveUuid } from '@flowly/bus';
import type { GroupMessage, GroupMessagePayload, Readiness, Usage } from '@flowly/contract';
import { faultPoint } from '@flowly/faults';
import {
  afterTurn,
  ended,
  foldUsage,
  isRunning,
  moveWatermark,
  settled,
  wasHeard,
  type GroupMember,
  type StoredRun,
  type TurnEnd,
} from '@flowly/groups';
import type { GroupRecord, GroupStore, GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { addGroupEvent } from '../views/group-event';
import { councilTurn, type CouncilTurn } from './council-turn';
import { addStep, membersOf } from './give-step';
import { readRunSteps, type Step } from './run-steps';

export interface MemberEnd {
  member: string;
  stepKey: string;
  end: TurnEnd;
  /** ISO time. */
  at: string;
  durationMs?: number;
  usage?: { model: string; usage: Usage | null };
  /** What is to be said of the member's readiness by this end. */
  readiness?: Readiness;
}

/**
 * Ends a member's turn in a running run: its message, watermark, usage and state, and the council's next turn or the
 * run's end if it was the last, are one commit (groups.md §5). The member's event still shows the run as running.
 */
export function endMember(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  end: MemberEnd,
): GroupRecord {
  const { store } = orchestrator;
  const { record, appended } = appendAnswer(groups, group, end);
  const run = ended(record.run ?? group.run, end.member, end.end, end.at);
  const heard = { ...record, run, ...heardBy(record, run, end), updatedAt: end.at };
  const members = membersOf(orchestrator, group);
  const next = run.mode === 'council' ? goOn(groups, heard, end, members) : null;
  const finished = groups.updateGroup({ ...heard, run: settled(next?.run ?? run, end.at) });
  faultPoint('member-ended');
  const goesOn = isRunning(finished.run);
  addMemberEvent(store, groups, goesOn ? finished : heard, end, appended, next?.step ?? null);
  if (!goesOn) {
    addGroupEvent(store, groups, finished, { type: 'run-state' });
    faultPoint('run-ended');
  }
  if (next?.step) giveTurn(store, groups, { ...finished, run: next.run }, next, members, end.at);
  return finished;
}

/** The next turn of a council, after this end; null when another program wrote the run. */
function goOn(
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  { member, end, at }: MemberEnd,
  members: readonly GroupMember[],
): CouncilTurn | null {
  const steps = readRunSteps(groups.readRunState(group.id, group.run.id));
  if (!steps) return null;
  const answer = end.kind === 'answer' ? end.content : null;
  const called = { ...steps, ...afterTurn(steps, { member, answer }, members) };
  return councilTurn(groups, group, called, new Date(at));
}

function giveTurn(
  store: GroupStore,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  { steps, step }: CouncilTurn,
  members: readonly GroupMember[],
  at: string,
): void {
  groups.saveRunState(group.id, group.run.id, steps);
  const running = { group, responders: steps.responders, members };
  if (step) addStep(store, groups, running, step, Date.parse(at));
  faultPoint('turn-given');
}

function appendAnswer(
  groups: GroupTransaction,
  group: GroupRecord,
  end: MemberEnd,
): { record: GroupRecord; appended: GroupMessage[] } {
  if (end.end.kind !== 'answer') return { record: group, appended: [] };
  const { content, toolCalls, attachments } = end.end;
  const payload: GroupMessagePayload = {
    id: deriveUuid(end.stepKey, 'answer'),
    role: 'assistant',
    profile: end.member,
    content,
    createdAt: end.at,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(attachments.length > 0 && { attachments }),
    ...(end.durationMs !== undefined && { durationMs: end.durationMs }),
  };
  const added = groups.appendMessage(group, payload);
  return { record: added.group, appended: [added.message] };
}

function heardBy(
  record: GroupRecord,
  run: StoredRun,
  end: MemberEnd,
): Pick<GroupRecord, 'watermarks' | 'usage'> {
  const { watermarks, usage } = record;
  if (!wasHeard(end.end)) return { watermarks, usage };
  const boundary = run.members[end.member]?.boundary ?? 0;
  return {
    watermarks: moveWatermark(watermarks, end.member, boundary),
    usage: end.usage ? foldUsage(usage, { member: end.member, ...end.usage }) : usage,
  };
}

function addMemberEvent(
  store: GroupStore,
  groups: GroupTransaction,
  group: GroupRecord,
  { end, member, stepKey, readiness }: MemberEnd,
  appended: GroupMessage[],
  next: Step | null,
): void {
  const effects = {
    ...(next && { starting: [next.member] }),
    closed: [{ botId: '', runId: stepKey, groupId: group.id }],
    ...(readiness && { readiness: { [member]: readiness } }),
  };
  const parts =
    end.kind === 'answer'
      ? { type: 'updated' as const, profile: member, appended }
      : end.kind === 'pass'
        ? { type: 'run-state' as const, profile: member }
        : { type: 'error' as const, profile: member, error: end.text };
  addGroupEvent(store, groups, group, parts, effects);
}
