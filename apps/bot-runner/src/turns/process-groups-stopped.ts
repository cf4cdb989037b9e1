import { stopBot } from '@flowly/agent';
import { ContractError, type GroupsStopped } from '@flowly/contract';
import { AFTER_NOTHING, decideOnce } from '@flowly/delivery';
import {
  findOutcome,
  pendingStops,
  removePendingStop,
  type Database,
  type Run,
} from '@flowly/store';
import { statusOf } from '../bot-status';
import { deletionOf, openBotIfThere, type Runner } from '../runner';
import { wakeTurn } from './wake-turn';

/** The groups have let go of a bot that its owner stops: now it is stopped itself, and the call is answered. */
export async function processGroupsStopped(runner: Runner, job: GroupsStopped): Promise<void> {
  const bot = await openBotIfThere(runner, job.bot);
  const isThere = bot?.botId === job.botId && !deletionOf(bot);
  if (!isThere) return answerGone(runner, job);
  const { database } = bot;
  let working: Run[] = [];
  await database.write(() => {
    if (isOld(database, job)) return;
    decideOnce(database, job.command, () => {
      removePendingStop(database, job.command.id);
      working = stopBot(bot, Date.now());
      return { outcome: { ok: true, status: statusOf(bot) } };
    });
  });
  for (const { runId } of working) wakeTurn(runner, bot.botId, runId);
}

/** Told again so late that even what it came to is forgotten. */
function isOld(database: Database, { command }: GroupsStopped): boolean {
  const isPending = pendingStops(database).some((stop) => stop.command.id === command.id);
  return !isPending && findOutcome(database, command.id) === null;
}

/** It was deleted meanwhile: no row can say so. */
async function answerGone({ bus }: Runner, { bot, command }: GroupsStopped): Promise<void> {
  const gone = new ContractError('PROFILE_NOT_FOUND', `The bot ${bot} does not exist.`);
  const answer = { command: command.id, outcome: { error: gone.toBody() } };
  await bus.replies.send(command.gateway, answer, AFTER_NOTHING);
}
