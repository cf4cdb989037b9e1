import type { Bus } from '@flowly/bus';
import { LiveTurns, type TurnSettings } from '@flowly/agent';
import { ContractError, DEFAULT_BOT, type Limits } from '@flowly/contract';
import type { ReceivedCommand, Relay } from '@flowly/delivery';
import {
  noSuchBot,
  type Bot,
  type Directory,
  type OpenBot,
  type OpenBots,
} from '@flowly/directory';
import type { Log } from '@flowly/service';
import {
  assertNotStopped,
  findOutcome,
  readDeletion,
  type Database,
  type Deletion,
} from '@flowly/store';
import type { BotRelays } from './bot-relays';
import type { Titles } from './turns/titles';
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
  titles: Titles;
  settings: TurnSettings;
  /** PKCS #8, for credentials that were sealed for the runners. */
  sealKeyPem: string;
  limits: Limits;
  log: Log;
}

/**
 * Opens the bot a command is for, with steps 7 and 8 of bots.md §2.1. A command that took effect before the owner's
 * stop came is still answered.
 * @throws ContractError PROFILE_IDENTITY_CHANGED, PROFILE_NOT_FOUND, PROFILE_STOPPED
 */
export async function openCommandBot(runner: Runner, command: ReceivedCommand): Promise<OpenBot> {
  const bot = await findCommandBot(runner, command);
  if (findOutcome(bot.database, command.id) === null) assertNotStopped(bot.database);
  return bot;
}

/**
 * `openCommandBot` for what a stopped bot answers too.
 * @throws ContractError PROFILE_IDENTITY_CHANGED, PROFILE_NOT_FOUND
 */
export async function findCommandBot(
  runner: Runner,
  command: Pick<ReceivedCommand, 'bot'>,
): Promise<OpenBot> {
  const { name = DEFAULT_BOT, expectedHostId } = command.bot ?? {};
  const changed = expectedHostId !== undefined && expectedHostId !== runner.hostId;
  if (changed) throw identityChanged();
  const bot = await openBot(runner, name);
  requireIdentity(command, bot);
  return bot;
}

/** @throws ContractError PROFILE_IDENTITY_CHANGED when this is not the bot the caller means */
export function requireIdentity(
  command: Pick<ReceivedCommand, 'bot'>,
  { botId }: Pick<Bot, 'botId'>,
): void {
  const expected = command.bot?.expectedBotId;
  if (expected !== undefined && expected !== botId) throw identityChanged();
}

/** Opens a bot and sees to it that what its database decides is carried out. @throws ContractError PROFILE_NOT_FOUND */
export async function openBot(runner: Runner, name: string): Promise<OpenBot> {
  const bot = await openAnyBot(runner, name);
  if (deletionOf(bot)) throw noSuchBot(name);
  return bot;
}

/** The deletion of a bot that is on its way out; the file counts too, also beside a database that was set back. */
export function deletionOf({ database, profile }: OpenBot): Deletion | null {
  return readDeletion(database) ?? profile.deleting ?? null;
}

async function openAnyBot({ openBots, relays }: Runner, name: string): Promise<OpenBot> {
  const bot = await openBots.open(name);
  relays.of(bot.database);
  return bot;
}

/**
 * `openBot` for jobs, whose bot may have gone meanwhile: null then. One that is being deleted is still there for what
 * ends its work.
 */
export async function openBotIfThere(runner: Runner, name: string): Promise<OpenBot | null> {
  try {
    return await openAnyBot(runner, name);
  } catch (error) {
    if (error instanceof ContractError && error.code === 'PROFILE_NOT_FOUND') return null;
    throw error;
  }
}

function identityChanged(): ContractError {
  return new ContractError('PROFILE_IDENTITY_CHANGED', 'Another bot or host answers here now.');
}
