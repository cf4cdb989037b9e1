import { deriveUuid } from '@flowly/bus';
import type { GroupMessage, GroupMessagePayload, Readiness, Usage } from '@flowly/contract';
import {
  ended,
  foldUsage,
  moveWatermark,
  settled,
  wasHeard,
  type StoredRun,
  type TurnEnd,
} from '@flowly/groups';
import type { GroupRecord, GroupStore, GroupTransaction } from '@flowly/store';
import { addGroupEvent } from '../views/group-event';

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
 * Ends a member's turn in a running run: its message, watermark, usage and state, and the run's end if it was the
 * last, are one commit (groups.md §5). The member's event still shows the run as running.
 */
export function endMember(
  store: GroupStore,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  end: MemberEnd,
): GroupRecord {
  const { record, appended } = appendAnswer(groups, group, end);
  const run = ended(record.run ?? group.run, end.member, end.end, end.at);
  const heard: GroupRecord = { ...record, run, ...heardBy(record, run, end), updatedAt: end.at };
  const finished = groups.updateGroup({ ...heard, run: settled(run, end.at) });
  addMemberEvent(store, groups, heard, end, appended);
  if (finished.run?.state !== 'running') {
    addGroupEvent(store, groups, finished, { type: 'run-state' });
  }
  return finished;
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
  if (!wasHeard(end.end)) return record;
  const boundary = run.members[end.member]?.boundary ?? 0;
  return {
    watermarks: moveWatermark(record.watermarks, end.member, boundary),
    usage: end.usage ? foldUsage(record.usage, { member: end.member, ...end.usage }) : record.usage,
  };
}

function addMemberEvent(
  store: GroupStore,
  groups: GroupTransaction,
  group: GroupRecord,
  { end, member, stepKey, readiness }: MemberEnd,
  appended: GroupMessage[],
): void {
  const effects = {
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
