import { addEvent } from '@flowly/delivery';
import type { GroupRecord, GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { orderRemovals, sessionsToRemove } from '../sessions/remove-sessions';

/** What is left of a group that was removed: files to be deleted after the commit, and orders to be given in it. */
export interface RemovedGroup {
  /** Files that no message of another group has. */
  files: string[];
  /** Orders that the private sessions go. */
  orderSessions: () => void;
}

/**
 * Removes a group with everything (groups.md §9), inside the transaction of its deletion.
 * @param bots whose private sessions of it are to go
 * @param source what the removals follow from, so that they are the same when it is repeated
 */
export function removeGroup(
  { store }: Orchestrator,
  groups: GroupTransaction,
  { id }: GroupRecord,
  bots: readonly string[],
  source: string,
): RemovedGroup {
  const files = groups.unsharedMedia(id);
  const removals = sessionsToRemove(groups, id, bots, source, Date.now());
  groups.deleteGroup(id);
  addEvent(store.database, { kind: 'group', groupId: id, type: 'deleted' });
  return { files, orderSessions: () => orderRemovals(store, removals) };
}
