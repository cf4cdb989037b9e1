import { unseal } from '@flowly/bus';
import {
  configureBotCommandSchema,
  configureBotParamsSchema,
  parseParams,
  type ConfigureBotParams,
} from '@flowly/contract';
import { decideOnce, type CommandHandler } from '@flowly/delivery';
import { configureBot, describeBot, settingsOf } from '@flowly/directory';
import { activeRunCount, isStopped } from '@flowly/store';
import { openBot, type Runner } from '../runner';
import { answeredBefore } from './answered-before';
import { addDirectoryEvent } from './create-bot';

/** `configure`: the credential is opened here and goes into the bot's files only (bots.md §2). */
export function configureBotCommand(runner: Runner): CommandHandler {
  const { host, home } = runner;
  return async (command) => {
    const params = openedParams(runner, command.params);
    if (await answeredBefore(host, command)) return 'follows from the commit';
    const { database } = await openBot(runner, params.name);
    const rules = { at: Date.now(), isBusy: () => activeRunCount(database) > 0 };
    await configureBot(host, home, params, rules, (bot) =>
      decideOnce(host, command, () => {
        const profile = describeBot(bot, isStopped(database));
        addDirectoryEvent(runner, profile, 'updated');
        return { outcome: { ok: true, profile, settings: settingsOf(bot) } };
      }),
    );
    return 'follows from the commit';
  };
}

function openedParams({ sealKeyPem }: Runner, raw: unknown): ConfigureBotParams {
  const { credential, ...changes } = parseParams(configureBotCommandSchema, raw);
  return parseParams(configureBotParamsSchema, {
    ...changes,
    ...(credential && { credential: JSON.parse(unseal(sealKeyPem, credential)) }),
  });
}
