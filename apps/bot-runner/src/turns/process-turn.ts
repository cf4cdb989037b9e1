import { acceptStep } from '@flowly/agent';
import { envelopeSchema, type StepGiven } from '@flowly/contract';
import { botTurnJobSchema, type RunTurn } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import { claimRun, type Run } from '@flowly/store';
import { openBotIfThere, type Runner } from '../runner';
import { refuseStep } from './refuse-step';
import { runTurn } from './run-turn';

/** Takes a turn's job and holds its slot until the turn is over. The row decides whether there is anything to do. */
export async function processTurn(runner: Runner, data: unknown): Promise<void> {
  const unpacked = await runner.bus.large.unpack(envelopeSchema.parse(data));
  // A step whose value is gone is given again by its orchestrator.
  if (unpacked === null) return;
  const job = botTurnJobSchema.parse(unpacked.body);
  const bot = await openBotIfThere(runner, job.bot);
  if (bot === null) {
    if (job.type === 'step') await refuseStep(runner, job);
    return;
  }
  const run =
    job.type === 'step' ? await takeStep(runner, bot, job) : await takeRun(runner, bot, job);
  if (run) await runTurn(runner, bot, run, runner.slots.ofJob());
}

async function takeStep(runner: Runner, bot: OpenBot, step: StepGiven): Promise<Run | null> {
  return acceptStep(bot, step, () => runner.turns.claim());
}

async function takeRun(runner: Runner, bot: OpenBot, job: RunTurn): Promise<Run | null> {
  if (bot.botId !== job.botId) return null;
  return bot.database.write(() => claimRun(bot.database, job.runId, runner.turns.claim()));
}
