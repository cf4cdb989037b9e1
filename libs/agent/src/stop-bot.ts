import { jobId } from '@flowly/bus';
import { DEFAULT_BOT, type BotStopping } from '@flowly/contract';
import { addGroupTurn } from '@flowly/delivery';
import {
  allOpenRuns,
  pendingStops,
  requestAbort,
  savePendingStop,
  saveStopped,
  type PendingStop,
  type Run,
} from '@flowly/store';
import type { Bot } from './bot';
import { tellConnection } from './bot-events';
import { endUnbegun } from './end-turn';

/**
 * The owner's stop (bots.md §2): first the groups in which the bot is at work are stopped, which is ordered until it is
 * done, then the bot itself. Everything here is called inside a transaction.
 */

/** Orders that the bot's groups are stopped; delivered again it is the same order. */
export function beginStop(bot: Bot, command: PendingStop['command'], at: number): void {
  savePendingStop(bot.database, { command, givenAt: at });
  const { name, botId } = bot;
  addGroupTurn(bot.database, jobId('bot-stopping', command.id), {
    type: 'bot-stopping',
    bot: name,
    botId,
    command,
  } satisfies BotStopping);
}

/** Orders again what was ordered before `before` (Unix ms) and is not done. */
export function repeatStops(bot: Bot, before: number, at: number): void {
  for (const { command } of stopsGivenBefore(bot, before)) beginStop(bot, command, at);
}

export function stopsGivenBefore({ database }: Bot, before: number): PendingStop[] {
  return pendingStops(database).filter(({ givenAt }) => givenAt < before);
}

/**
 * Stops the bot itself: runs that wait have ended, those at work are asked to end. Nothing of it starts from then on,
 * but for `default`, whose stop is not remembered.
 * @returns the runs whose drivers are to be woken
 */
export function stopBot(bot: Bot, at: number): Run[] {
  const { database } = bot;
  const open = allOpenRuns(database);
  // Also of one that nobody drives now: who takes it up ends it, with what its dead attempt had begun.
  for (const { runId } of open) requestAbort(database, runId, null, at);
  for (const run of open) if (run.state === 'accepted') endUnbegun(bot, run, at);
  if (bot.name !== DEFAULT_BOT) {
    saveStopped(database, true);
    tellConnection(database, bot, { state: 'stopped', byUser: true });
  }
  return open.filter(({ state }) => state === 'running');
}
