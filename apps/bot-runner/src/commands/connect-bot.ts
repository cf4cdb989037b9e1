import { tellConnection, tellFault } from '@flowly/agent';
import { ContractError, hostMethods, parseParams } from '@flowly/contract';
import { decideOnce, type CommandHandler, type Decision } from '@flowly/delivery';
import { startFault, type Bot, type OpenBot } from '@flowly/directory';
import {
  assertNotStopped,
  isStopped,
  pendingStops,
  saveStopped,
  type Database,
  type Run,
} from '@flowly/store';
import { statusOf } from '../bot-status';
import { findCommandBot, type Runner } from '../runner';
import { finishStop } from '../turns/process-groups-stopped';
import { wakeTurn } from '../turns/wake-turn';

/**
 * `connect` (bots.md §2): ends the owner's stop, unless the call says that it is not the owner's wish, and looks whether
 * the bot can be used. The stop ends also when it cannot: what keeps it then is what the error says. A stop that still
 * waits for groups is carried out first, or it would end what was asked for after it.
 */
export function connectBot(runner: Runner): CommandHandler {
  return async (command) => {
    const { name, explicit } = parseParams(hostMethods['bots.connect'].params, command.params);
    const bot = await openOrFault(runner, name);
    const database = 'fault' in bot ? runner.host : bot.database;
    let working: Run[] = [];
    await database.write(() =>
      decideOnce(database, command, () => {
        if ('fault' in bot) return refuse(database, bot, bot.fault);
        if (explicit === false) assertNotStopped(database);
        else working = endStop(bot);
        return start(bot);
      }),
    );
    for (const { runId } of working) wakeTurn(runner, bot.botId, runId);
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

/** @returns the runs whose drivers are to be woken */
function endStop(bot: OpenBot): Run[] {
  const { database } = bot;
  const working = pendingStops(database).flatMap(({ command }) => finishStop(bot, command));
  if (isStopped(database)) saveStopped(database, false);
  return working;
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
