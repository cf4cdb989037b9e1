import { deriveUuid } from '@flowly/bus';
import { hostMethods, parseParams, type BotDescriptor } from '@flowly/contract';
import { addEvent, decideOnce, type CommandHandler } from '@flowly/delivery';
import { createBot, describeBot, readinessOf } from '@flowly/directory';
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
        const profile = describeBot(bot, false);
        addDirectoryEvent(runner, profile, 'created');
        return { outcome: { ok: true, profile, readiness: readinessOf(bot) } };
      }),
    );
    return 'follows from the commit';
  };
}

/** Tells the directory's subscribers of a bot, inside the transaction of its change. */
export function addDirectoryEvent(
  { host }: Runner,
  profile: BotDescriptor,
  action: 'created' | 'updated',
): void {
  addEvent(host, {
    kind: 'bot',
    bot: profile.name,
    botId: profile.botId,
    sessionKey: null,
    type: 'directory',
    data: { action, profile },
  });
}
