import { abortStep } from '@flowly/agent';
import type { StepAborted } from '@flowly/contract';
import { openBotIfThere, type Runner } from '../runner';
import { refuseStep } from './refuse-step';
import { wakeTurn } from './wake-turn';

/** Ends a step for its group; for a bot that is gone it has ended. */
export async function processAbort(runner: Runner, step: StepAborted): Promise<void> {
  const bot = await openBotIfThere(runner, step.bot);
  if (bot === null) return refuseStep(runner, step);
  const run = await abortStep(bot, step, Date.now());
  if (run) wakeTurn(runner, bot.botId, run.runId);
}
