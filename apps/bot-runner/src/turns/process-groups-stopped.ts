import { stopBot } from '@flowly/agent';
import { ContractError, type GroupsStopped } from '@flowly/contract';
import { AFTER_NOTHING, decideOnce } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import {
  findOutcome,
  pendingStops,
  removePendingStop,
  type Database,
  type PendingStop,
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
  const working = await database.write(() =>
    isOld(database, job) ? [] : finishStop(bot, job.command),
  );
  for (const { runId } of working) wakeTurn(runner, bot.botId, runId);
}

/**
 * Stops the bot itself and answers the call; inside a transaction.
 * @returns the runs whose drivers are to be woken
 */
export function finishStop(bot: OpenBot, command: PendingStop['command']): Run[] {
  const { database } = bot;
  let working: Run[] = [];
  decideOnce(database, command, () => {
    removePendingStop(database, command.id);
    working = stopBot(bot, Date.now());
    return { outcome: { ok: true, status: statusOf(bot) } };
  });
  return working;
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
