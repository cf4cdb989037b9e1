import type { LiveRun } from '@flowly/bus';
import type { Run } from '@flowly/store';
import type { Bot } from './bot';

/** A run as its live record knows it. */
export function liveRun(bot: Bot, run: Run): LiveRun {
  return {
    bot: bot.name,
    botId: bot.botId,
    sessionKey: run.sessionKey,
    runId: run.runId,
    epoch: run.epoch,
    group: run.step ? { groupId: run.step.groupId, runId: run.step.runId } : undefined,
  };
}
