import { randomUUID } from 'node:crypto';
import { jobId } from '@flowly/bus';
import type { SessionsTold } from '@flowly/contract';
import { addSessionOrder } from '@flowly/delivery';
import { pendingRemovals, type GroupReader } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { orderRemovals, sessionsToRemove } from './remove-sessions';

/**
 * Private sessions that were left behind, as another program or a lost file leaves them (groups.md §9): at its start an
 * orchestrator asks which there are. Whether one is left behind is decided on the groups as they are when the answer
 * comes; a store that cannot be read decides nothing.
 */
export async function askForSessions({ store }: Orchestrator): Promise<void> {
  await store.transaction(() =>
    addSessionOrder(store.database, jobId('list-sessions', randomUUID()), {
      type: 'list-sessions',
    }),
  );
}

/** Orders that the sessions of groups that are gone, or no longer have that bot, are removed. */
export async function sessionsTold(orchestrator: Orchestrator, told: SessionsTold): Promise<void> {
  const { store } = orchestrator;
  const isLeft = (groups: GroupReader) => (groupId: string) =>
    groups.findGroup(groupId)?.members.includes(told.bot) !== true &&
    pendingRemovals(store.database, groupId, told.bot).length === 0;
  const left = await store.read((groups) => told.groupIds.filter(isLeft(groups)));
  if (left.length === 0) return;
  await store.transaction((groups) => {
    const removals = left
      .filter(isLeft(groups))
      .flatMap((id) => sessionsToRemove(groups, id, [told.bot], randomUUID(), Date.now()));
    orderRemovals(store, removals);
  });
}
