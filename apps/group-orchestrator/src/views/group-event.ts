import type { GroupMessage, GroupSnapshotType, StoredGroupView } from '@flowly/contract';
import { activeMembers, panelStepKey, storedGroupView } from '@flowly/groups';
import { addEvent, type Effects } from '@flowly/delivery';
import type { GroupRecord, GroupTransaction, GroupStore } from '@flowly/store';

export interface GroupEventParts {
  type: GroupSnapshotType;
  /** The member the event is about. */
  profile?: string;
  error?: string;
  appended?: GroupMessage[];
}

/**
 * Adds an event that shows the group as `group` is, inside the transaction that made it so. Messages, streams,
 * activities and readiness are not in it: the relay and the gateways add them (design rule 1). Returns what it shows.
 */
export function addGroupEvent(
  store: GroupStore,
  groups: GroupTransaction,
  group: GroupRecord,
  parts: GroupEventParts,
  effects: Effects = {},
): StoredGroupView {
  const window = group.live > 0 ? windowBounds(group) : {};
  const room = storedGroupView(groups.viewInput(group));
  const event = { kind: 'group' as const, groupId: group.id, ...parts, room, ...window };
  addEvent(store.database, event, { ...effects, shown: shownSteps(group) });
  return room;
}

/** First and last sequence of the live window; sequences have no gaps. */
export function windowBounds(group: GroupRecord): { windowFirstSeq: number; lastSeq: number } {
  return { windowFirstSeq: group.nextSeq - group.live, lastSeq: group.nextSeq - 1 };
}

/** The steps whose text so far belongs into a snapshot. */
export function shownSteps(group: GroupRecord): { member: string; stepKey: string }[] {
  const { run } = group;
  if (run === null) return [];
  return activeMembers(run, group.members).map((member) => ({
    member,
    stepKey: run.members[member]?.gatewayRunId ?? panelStepKey(run.id, member),
  }));
}
