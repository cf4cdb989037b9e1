import { tellConnection, tellFault } from '@flowly/agent';
import { ContractError, hostMethods, parseParams } from '@flowly/contract';
import { decideOnce, type CommandHandler, type Decision } from '@flowly/delivery';
import { startFault, type Bot, type OpenBot } from '@flowly/directory';
import { assertNotStopped, isStopped, saveStopped, type Database } from '@flowly/store';
import { statusOf } from '../bot-status';
import { findCommandBot, type Runner } from '../runner';

/**
 * `connect` (bots.md §2): ends the owner's stop, unless the call says that it is not the owner's wish, and looks whether
 * the bot can be used. The stop ends also when it cannot: what keeps it then is what the error says.
 */
export function connectBot(runner: Runner): CommandHandler {
  return async (command) => {
    const { name, explicit } = parseParams(hostMethods['bots.connect'].params, command.params);
    const bot = await openOrFault(runner, name);
    const database = 'fault' in bot ? runner.host : bot.database;
    await database.write(() =>
      decideOnce(database, command, () => {
        if ('fault' in bot) return refuse(database, bot, bot.fault);
        if (explicit === false) assertNotStopped(database);
        else if (isStopped(database)) saveStopped(database, false);
        return start(bot);
      }),
    );
    return 'follows from the commit';
  };
}

/** @throws ContractError PROFILE_NOT_FOUND */
async function openOrFault(
  runner: Runner,
  name: string,
): Promise<OpenBot | (Bot & { fault: string })> {
  try {
    return await findCommandBot(runner, { bot: { name } });
  } catch (error) {
    if (error instanceof ContractError && error.code === 'PROFILE_NOT_FOUND') throw error;
    runner.log.error({ err: error, bot: name }, 'a bot cannot be opened');
    return {
      ...runner.directory.require(name),
      fault: 'The database of this bot cannot be opened.',
    };
  }
}

function start(bot: OpenBot): Decision {
  const { database } = bot;
  const fault = startFault(bot);
  if (fault !== null) return refuse(database, bot, fault);
  tellConnection(database, bot, { state: 'starting' });
  tellConnection(database, bot, { state: 'connected' });
  return { outcome: { status: statusOf(bot) } };
}

function refuse(database: Database, bot: Bot, fault: string): Decision {
  tellConnection(database, bot, { state: 'starting' });
  tellFault(database, bot, fault);
  tellConnection(database, bot, { state: 'error' });
  return { outcome: { error: new ContractError('PROFILE_START_FAILED', fault).toBody() } };
}
