import type { StepAborted } from '@flowly/contract';
import { findRun, refuseRun, requestAbort, type Run } from '@flowly/store';
import type { Bot } from './bot';
import { endUnbegun } from './end-turn';
import { failTaken, newStepRun, tellAgain } from './step-run';

/**
 * Ends a step for its group. One that has not come yet gets its ended row now, so that the step, when it comes, is
 * known and starts nothing (groups.md §6).
 * @returns the run whose driver is to be woken
 */
export function abortStep(bot: Bot, step: StepAborted, at: number): Promise<Run | null> {
  return bot.database.write(() => endStep(bot, step, at));
}

/** `abortStep` inside a transaction. */
export function endStep(bot: Bot, step: StepAborted, at: number): Run | null {
  const { database } = bot;
  const known = findRun(database, step.stepKey);
  if (known && !known.step) {
    failTaken(bot, step, at);
    return null;
  }
  const run = known ?? refuseRun(database, newStepRun(step, '', [], at));
  if (run.endedAt !== null) {
    tellAgain(bot, run);
    return null;
  }
  requestAbort(database, run.runId, null, at);
  return run.state === 'accepted' && endUnbegun(bot, run, at) ? null : run;
}
