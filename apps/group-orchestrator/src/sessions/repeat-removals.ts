import { markRemovalGiven, removalsGivenBefore } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { giveRemoval } from './remove-sessions';

/** How long a removal is left alone before it is given again, in rounds of the reconciler. */
const REPEAT_ROUNDS = 1.5;

/** Gives removals again that no bot has answered (groups.md §9). */
export async function repeatRemovals({ store, limits }: Orchestrator): Promise<void> {
  const { database } = store;
  const before = Date.now() - limits.reconcileMs * REPEAT_ROUNDS;
  if ((await store.read(() => removalsGivenBefore(database, before))).length === 0) return;
  await store.transaction(() => {
    for (const removal of removalsGivenBefore(database, before)) {
      markRemovalGiven(database, removal.removalId, Date.now());
      giveRemoval(database, removal);
    }
  });
}
