import { hostMethods, parseParams } from '@flowly/contract';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import { describeBot, settingsOf, type Bot } from '@flowly/directory';
import { isStopped } from '@flowly/store';
import { statusOf } from '../bot-status';
import { deletionOf, type Runner } from '../runner';

/** `list`: every bot there is, `default` first. */
export function listBots(runner: Runner): CommandHandler {
  const { directory, hostId } = runner;
  return async () => {
    const described = directory
      .list()
      .map(async (bot) => describeBot(bot, await isStoppedByUser(runner, bot)));
    return { result: { hostId, profiles: await Promise.all(described) }, after: 'newest' };
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

/** A bot whose database cannot be opened is listed nevertheless. */
async function isStoppedByUser({ openBots, log }: Runner, { name }: Bot): Promise<boolean> {
  try {
    return isStopped((await openBots.open(name)).database);
  } catch (error) {
    log.error({ err: error, bot: name }, 'a bot cannot be opened');
    return false;
  }
}
