import { setTimeout as delay } from 'node:timers/promises';
import { endOpenRuns } from '@flowly/agent';
import { jobId } from '@flowly/bus';
import type { BotLeft } from '@flowly/contract';
import { addEvent, addGroupTurn, decideOnce } from '@flowly/delivery';
import { emptyTrash, hideBot, removeBot, type GoneBot, type OpenBot } from '@flowly/directory';
import { activeRunCount, findOutcome, outboxSpan, type Deletion } from '@flowly/store';
import { deletionOf, openBotIfThere, type Runner } from '../runner';
import { wakeTurn } from '../turns/wake-turn';

/** How often is looked whether the turns of a bot that goes have ended. */
const LOOK_MS = 25;

/**
 * Carries a decided deletion on (bots.md §2): hides the bot and lets it leave its groups. Every step may be repeated,
 * and the reconciler does. Never throws: a call that has been decided is not refused.
 */
export async function carryOn(runner: Runner, bot: OpenBot, deletion: Deletion): Promise<void> {
  try {
    await hideBot(runner.host, runner.home, bot, deletion);
    await bot.database.write(() => tellGroups(bot));
  } catch (error) {
    runner.log.error({ err: error, bot: bot.name }, 'a deletion');
  }
}

/** `carryOn` of one that has not ended; while something waits to go out, telling it again would only lengthen the row. */
export async function carryOnAgain(
  runner: Runner,
  bot: OpenBot,
  deletion: Deletion,
): Promise<void> {
  if (outboxSpan(bot.database).newest === null) await carryOn(runner, bot, deletion);
}

/** The same job however often it is told, so that one at a time is in the queue. */
function tellGroups({ database, name, botId }: OpenBot): void {
  addGroupTurn(database, jobId('bot-deleted', botId), { type: 'bot-deleted', bot: name, botId });
}

/**
 * The bot is in no group any more: its last turns are ended, what they tell is carried out, and its folder goes. What
 * takes longer than a claim stands is left to the reconciler.
 */
export async function botLeft(runner: Runner, left: BotLeft): Promise<void> {
  const bot = await openBotIfThere(runner, left.bot);
  if (bot?.botId !== left.botId || !deletionOf(bot)) return;
  const until = Date.now() + runner.limits.aliveMs;
  while (!(await remove(runner, bot)) && Date.now() < until) await delay(LOOK_MS);
}

/** Whether it is gone. */
async function remove(runner: Runner, bot: OpenBot): Promise<boolean> {
  const { host, home, relays } = runner;
  const { database } = bot;
  const driven = await database.write(() => endOpenRuns(bot, Date.now()));
  for (const { runId } of driven) wakeTurn(runner, bot.botId, runId);
  await relays.of(database).drain();
  const isFree = () => activeRunCount(database) === 0 && outboxSpan(database).newest === null;
  return removeBot(host, home, bot, isFree, (gone) => commitGone(runner, gone));
}

/** Removes what a process left that died between the commit of a deletion and its end, or right before. */
export function emptyTheTrash(runner: Runner): Promise<void> {
  return emptyTrash(runner.host, runner.home, (gone) => commitGone(runner, gone));
}

/** Tells of it once, in the transaction of the directory's lock: the event and the answer of the call. */
function commitGone({ host }: Runner, { name, botId, deletion }: GoneBot): void {
  const { command, gateway } = deletion;
  if (findOutcome(host, command) !== null) return;
  decideOnce(host, { id: command, gateway }, () => {
    addEvent(host, {
      kind: 'bot',
      bot: name,
      botId,
      sessionKey: null,
      type: 'directory',
      data: { action: 'deleted', botId },
    });
    return { outcome: { ok: true, deleted: name, botId } };
  });
}
