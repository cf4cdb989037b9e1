import { deriveUuid, jobId } from '@flowly/bus';
import { groupSessionKey, type SessionRemoval } from '@flowly/contract';
import { addSessionOrder } from '@flowly/delivery';
import { addRemoval, type GroupReader, type GroupStore, type PendingRemoval } from '@flowly/store';
import { readRunSteps } from '../turns/run-steps';

/**
 * Removals of a group's private sessions at these bots (groups.md §9), to be read before the group changes: what the
 * group still awaits of the bots goes with the session.
 * @param source what they follow from, so that they are the same when it is repeated
 * @param at Unix ms
 */
export function sessionsToRemove(
  groups: GroupReader,
  groupId: string,
  bots: readonly string[],
  source: string,
  at: number,
): PendingRemoval[] {
  if (bots.length === 0) return [];
  const awaited = groups
    .savedRunStates()
    .filter((saved) => saved.groupId === groupId)
    .flatMap(({ runId, state }) =>
      Object.entries(readRunSteps(state)?.steps ?? {}).map(([stepKey, step]) => ({
        ...step,
        stepKey,
        runId,
      })),
    );
  return bots.map((bot) => ({
    removalId: deriveUuid(source, `session of ${groupId} at ${bot}`),
    groupId,
    bot,
    at,
    steps: awaited
      .filter(({ member, ended }) => member === bot && !ended)
      .map(({ stepKey, runId }) => ({ stepKey, runId })),
  }));
}

/** Orders removals in the transaction they follow from; they are repeated until their bots have said that it is done. */
export function orderRemovals({ database }: GroupStore, removals: readonly PendingRemoval[]): void {
  for (const removal of removals) {
    addRemoval(database, removal);
    giveRemoval(database, removal);
  }
}

/** One job at a time in the queue: it has the same id however often it is given. */
export function giveRemoval(database: GroupStore['database'], removal: PendingRemoval): void {
  addSessionOrder(database, jobId('remove-session', removal.removalId), removalJob(removal));
}

/** A removal as the bot is told of it. */
export function removalJob(removal: PendingRemoval): SessionRemoval {
  return { type: 'remove-session', sessionKey: groupSessionKey(removal.groupId), ...removal };
}
