import type { GroupMessage, GroupSnapshotType, StoredGroupView } from '@flowly/contract';
import { activeMembers, stepKeyOf, storedGroupView } from '@flowly/groups';
import { addEvent, type Effects } from '@flowly/delivery';
import type { GroupRecord, GroupTransaction, GroupStore } from '@flowly/store';

export interface GroupEventParts {
  type: GroupSnapshotType;
  /** The member the event is about. */
  profile?: string;
  error?: string;
  appended?: GroupMessage[];
}

/** A step whose text and tool calls so far belong into a view. */
export interface ShownStep {
  member: string;
  stepKey: string;
}

/** A group as a commit left it. */
export interface CommittedGroup {
  view: StoredGroupView;
  shown: ShownStep[];
  /** Sequence of the first message that came later. */
  nextSeq: number;
}

/**
 * Adds an event that shows the group as `group` is, inside the transaction that made it so. Messages, streams,
 * activities and readiness are not in it: the relay and the gateways add them (design rule 1).
 */
export function addGroupEvent(
  store: GroupStore,
  groups: GroupTransaction,
  group: GroupRecord,
  parts: GroupEventParts,
  effects: Effects = {},
): CommittedGroup {
  const window = group.live > 0 ? windowBounds(group) : {};
  const view = storedGroupView(groups.viewInput(group));
  const shown = shownSteps(group);
  const event = { kind: 'group' as const, groupId: group.id, ...parts, room: view, ...window };
  addEvent(store.database, event, { ...effects, shown });
  return { view, shown, nextSeq: group.nextSeq };
}

/** First and last sequence of the live window; sequences have no gaps. */
export function windowBounds(group: GroupRecord): { windowFirstSeq: number; lastSeq: number } {
  return { windowFirstSeq: group.nextSeq - group.live, lastSeq: group.nextSeq - 1 };
}

/** The steps of those at work. */
export function shownSteps(group: GroupRecord): ShownStep[] {
  const { run } = group;
  if (run === null) return [];
  return activeMembers(run, group.members).flatMap((member) => {
    const stepKey = stepKeyOf(run, member);
    return stepKey === null ? [] : [{ member, stepKey }];
  });
}
