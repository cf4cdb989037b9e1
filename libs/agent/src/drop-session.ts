import { jobId } from '@flowly/bus';
import type { SessionRemoval } from '@flowly/contract';
import { addGroupTurn } from '@flowly/delivery';
import { isSessionMadeBy, openRuns, removeSession, type Run } from '@flowly/store';
import { endStep } from './abort-step';
import type { Bot } from './bot';
import { endWithSession } from './end-turn';

/**
 * Removes the private session of a group that this bot has left (groups.md §9): starts no turn, and delivered again
 * leaves a session that was made since alone.
 * @returns the runs whose drivers are to be woken, to find that they have lost them
 */
export function removeGroupSession(bot: Bot, removal: SessionRemoval): Promise<Run[]> {
  return bot.database.write(() => dropSession(bot, removal, Date.now()));
}

/** `removeGroupSession` inside a transaction. */
export function dropSession(bot: Bot, removal: SessionRemoval, at: number): Run[] {
  const { removalId, groupId, sessionKey, steps } = removal;
  const { database } = bot;
  const stopping = steps.flatMap((step) => {
    const order = { type: 'abort' as const, ...step, groupId, bot: removal.bot, sessionKey };
    return endStep(bot, order, at) ?? [];
  });
  const open = isSessionMadeBy(database, sessionKey, removal.at)
    ? openRuns(database, sessionKey)
    : null;
  if (open) {
    for (const run of open) endWithSession(bot, run, at);
    removeSession(database, sessionKey);
  }
  addGroupTurn(database, jobId('session-removed', removalId), {
    type: 'session-removed',
    removalId,
    groupId,
    bot: removal.bot,
  });
  return [...stopping, ...(open ?? [])];
}
