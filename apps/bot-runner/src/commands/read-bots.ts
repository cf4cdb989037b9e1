import type { BotStatus } from '@flowly/contract';
import { hostMethods, parseParams } from '@flowly/contract';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import { describeBot, settingsOf, type OpenBot } from '@flowly/directory';
import { activeRunCount, lastUsedAt } from '@flowly/store';
import { deletionOf, type Runner } from '../runner';

/** `list`: every bot there is, `default` first. */
export function listBots({ directory, hostId }: Runner): CommandHandler {
  return async () => ({
    result: { hostId, profiles: directory.list().map(describeBot) },
    after: 'newest',
  });
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

function statusOf({ name, botId, database }: OpenBot): BotStatus {
  const used = lastUsedAt(database);
  return {
    profile: name,
    botId,
    state: 'connected',
    owned: true,
    activeRuns: activeRunCount(database),
    ...(used !== null && { lastUsedAt: used }),
  };
}
