import { allOpenRuns, requestAbort, type Run } from '@flowly/store';
import type { Bot } from './bot';
import { endWithSession } from './end-turn';

/**
 * Ends what is still open of a bot that is being deleted, inside a transaction: at once what nobody drives, by its
 * driver what somebody does.
 * @returns the runs whose drivers are to be woken; none when all has ended
 */
export function endOpenRuns(bot: Bot, at: number): Run[] {
  return allOpenRuns(bot.database).filter((run) => {
    const isDriven = run.state === 'running' && run.aliveUntil !== null && run.aliveUntil >= at;
    if (isDriven) requestAbort(bot.database, run.runId, null, at);
    else endWithSession(bot, run, at);
    return isDriven;
  });
}
