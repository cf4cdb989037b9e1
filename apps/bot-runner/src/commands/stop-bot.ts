import { beginStop } from '@flowly/agent';
import { hostMethods, parseParams } from '@flowly/contract';
import { addReply, type CommandHandler } from '@flowly/delivery';
import { findOutcome } from '@flowly/store';
import { findCommandBot, type Runner } from '../runner';

/** `stop` (bots.md §2): first the bot's groups, so the call is answered when these are stopped and then the bot. */
export function stopBotCommand(runner: Runner): CommandHandler {
  return async (command) => {
    const { name } = parseParams(hostMethods['bots.stop'].params, command.params);
    const bot = await findCommandBot(runner, { bot: { name } });
    await bot.database.write(() => {
      const known = findOutcome(bot.database, command.id);
      if (known !== null) return addReply(bot.database, command, known);
      const { id, gateway } = command;
      beginStop(bot, { id, gateway }, Date.now());
    });
    return 'follows from the commit';
  };
}
