import { deriveUuid } from '@flowly/bus';
import { hostMethods, parseParams } from '@flowly/contract';
import { addEvent, decideOnce, type CommandHandler } from '@flowly/delivery';
import { createBot, describeBot, readinessOf, type Bot } from '@flowly/directory';
import type { Runner } from '../runner';
import { answeredBefore } from './answered-before';

/** `create`: the folder, the outcome and the event are one commit of the directory's lock (bots.md §1). */
export function createBotCommand(runner: Runner): CommandHandler {
  const { host, home, limits } = runner;
  return async (command) => {
    const params = parseParams(hostMethods['bots.create'].params, command.params);
    if (await answeredBefore(host, command)) return 'follows from the commit';
    const wanted = {
      botId: deriveUuid(command.id, 'bot'),
      at: Date.now(),
      limit: limits.namedBots,
    };
    await createBot(host, home, params, wanted, (bot) =>
      decideOnce(host, command, () => {
        addDirectoryEvent(runner, bot, 'created');
        const outcome = { ok: true, profile: describeBot(bot), readiness: readinessOf(bot) };
        return { outcome };
      }),
    );
    return 'follows from the commit';
  };
}

/** Tells the directory's subscribers of a bot, inside the transaction of its change. */
export function addDirectoryEvent({ host }: Runner, bot: Bot, action: 'created' | 'updated'): void {
  addEvent(host, {
    kind: 'bot',
    bot: bot.name,
    botId: bot.botId,
    sessionKey: null,
    type: 'directory',
    data: { action, profile: describeBot(bot) },
  });
}
