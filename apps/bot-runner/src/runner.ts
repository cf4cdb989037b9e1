import type { Bus } from '@flowly/bus';
import { LiveTurns, type TurnSettings } from '@flowly/agent';
import { ContractError, DEFAULT_BOT, type Limits } from '@flowly/contract';
import type { ReceivedCommand, Relay } from '@flowly/delivery';
import type { Directory, OpenBot, OpenBots } from '@flowly/directory';
import type { Log } from '@flowly/service';
import type { Database } from '@flowly/store';
import type { BotRelays } from './bot-relays';
import type { TurnSlots } from './turns/turn-slots';

/** What the commands and processors of bots work with. */
export interface Runner {
  hostId: string;
  home: string;
  bus: Bus;
  host: Database;
  hostRelay: Relay;
  directory: Directory;
  openBots: OpenBots;
  relays: BotRelays;
  turns: LiveTurns;
  slots: TurnSlots;
  settings: TurnSettings;
  /** PKCS #8, for credentials that were sealed for the runners. */
  sealKeyPem: string;
  limits: Limits;
  log: Log;
}

/**
 * Opens the bot a command is for, with the identity guard of bots.md §2.1 step 7.
 * @throws ContractError PROFILE_IDENTITY_CHANGED, PROFILE_NOT_FOUND
 */
export async function openCommandBot(runner: Runner, command: ReceivedCommand): Promise<OpenBot> {
  const { name = DEFAULT_BOT, expectedHostId, expectedBotId } = command.bot ?? {};
  const changed = expectedHostId !== undefined && expectedHostId !== runner.hostId;
  if (changed) throw identityChanged();
  const bot = await runner.openBots.open(name);
  if (expectedBotId !== undefined && expectedBotId !== bot.botId) throw identityChanged();
  runner.relays.of(bot.database).kick();
  return bot;
}

function identityChanged(): ContractError {
  return new ContractError('PROFILE_IDENTITY_CHANGED', 'Another bot or host answers here now.');
}
