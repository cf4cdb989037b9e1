import { ContractError, hostMethods, parseParams, type BotDescriptor } from '@flowly/contract';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import { describeBot, settingsOf, type Bot } from '@flowly/directory';
import { isStopped } from '@flowly/store';
import { statusOf } from '../bot-status';
import { deletionOf, type Runner } from '../runner';

/** `list`: every bot there is, `default` first. */
export function listBots(runner: Runner): CommandHandler {
  const { directory, hostId } = runner;
  return async () => {
    const bots = await Promise.all(directory.list().map((bot) => listed(runner, bot)));
    return { result: { hostId, profiles: bots.flat() }, after: 'newest' };
  };
}

/** `statuses`: what each bot is doing. */
export function botStatuses({ openBots, hostId, log }: Runner): CommandHandler {
  return async () => {
    const bots = await openBots.openAll((name, error) =>
      log.error({ err: error, bot: name }, 'a bot cannot be opened'),
    );
    const there = bots.filter((bot) => !deletionOf(bot));
    return { result: { hostId, statuses: there.map(statusOf) }, after: 'newest' };
  };
}

/** `settings`: what the owner chose for a bot. */
export function botSettings({ directory }: Runner): CommandHandler {
  return async (command) => {
    const { name } = parseParams(hostMethods['bots.settings'].params, command.params);
    return { result: { settings: settingsOf(directory.require(name)) }, after: AFTER_NOTHING };
  };
}

/** A bot whose database cannot be opened is listed nevertheless; one that is being deleted is not. */
async function listed({ openBots, log }: Runner, bot: Bot): Promise<BotDescriptor[]> {
  try {
    const opened = await openBots.open(bot.name);
    return deletionOf(opened) ? [] : [describeBot(bot, isStopped(opened.database))];
  } catch (error) {
    if (error instanceof ContractError && error.code === 'PROFILE_NOT_FOUND') return [];
    log.error({ err: error, bot: bot.name }, 'a bot cannot be opened');
    return [describeBot(bot, false)];
  }
}
