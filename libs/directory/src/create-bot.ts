import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  ContractError,
  DEFAULT_BOT,
  invalid,
  isFreeBotName,
  type CreateBotParams,
} from '@flowly/contract';
import { faultPoint } from '@flowly/faults';
import { createBotStore, type Database } from '@flowly/store';
import { readConfig, withDefaults } from './bot-config';
import { carriedConfig, copyCarriedFiles } from './clone';
import { Directory, type Bot } from './directory';
import { syncFolder, toJson, writeAtomically } from './files';
import { underLock } from './lock';
import { nextMarkSeed } from './marks';
import { botFiles, botFolder, botFolders, botsFolder, HIDDEN, newHiddenFolder } from './paths';
import { newProfile, writeProfile } from './profile-file';

export interface NewBot {
  /** Derived from the command, so that a repeat finds what it made. */
  botId: string;
  /** Unix ms. */
  at: number;
  /** How many named bots there may be. */
  limit: number;
}

/**
 * Makes a bot (bots.md §2): built in a hidden folder, published by one rename. Counting, making and
 * `commit` (outcome and outbox of the command) are one transaction of the directory's lock. A command
 * whose bot was published before its process died finds it by its `botId` and commits.
 * @throws ContractError `INVALID_PARAMS` (reserved name), `CREDENTIAL_POLICY_UNSUPPORTED`,
 *   `PROFILE_ALREADY_EXISTS`, `PROFILE_LIMIT`, `PROFILE_NOT_FOUND` (source)
 */
export async function createBot(
  host: Database,
  home: string,
  params: CreateBotParams,
  wanted: NewBot,
  commit: (bot: Bot) => void,
): Promise<Bot> {
  checkParams(params);
  const directory = new Directory(home);
  return underLock(host, () => {
    removeLeftovers(home);
    const known = directory.find(params.name);
    if (known?.botId === wanted.botId) {
      commit(known);
      return known;
    }
    const bot = make(directory, params, wanted);
    commitOrTakeBack(bot, commit);
    return bot;
  });
}

function checkParams({ name, credentialPolicy = 'isolated' }: CreateBotParams): void {
  if (!isFreeBotName(name)) invalid(`The name ${name} is reserved.`);
  if (credentialPolicy !== 'isolated') {
    throw new ContractError(
      'CREDENTIAL_POLICY_UNSUPPORTED',
      'A bot has its own credentials: only isolated is supported.',
    );
  }
}

/** Only under the lock: what a process left that died while it made a bot. */
export function removeLeftovers(home: string): void {
  mkdirSync(botsFolder(home), { recursive: true, mode: 0o700 });
  for (const name of readdirSync(botsFolder(home))) {
    if (name.startsWith(HIDDEN)) rmSync(join(botsFolder(home), name), { recursive: true });
  }
}

function make(directory: Directory, params: CreateBotParams, wanted: NewBot): Bot {
  const { home } = directory;
  const bots = directory.list();
  checkRoom(directory, params.name, wanted.limit);
  const source =
    params.cloneFrom === null ? null : directory.require(params.cloneFrom ?? DEFAULT_BOT);
  const hidden = newHiddenFolder(home);
  try {
    build(hidden, source, params, wanted, nextMarkSeed(bots));
    faultPoint('bot-built');
    renameSync(hidden, botFolder(home, params.name));
    faultPoint('bot-published');
  } catch (error) {
    rmSync(hidden, { recursive: true, force: true });
    throw error;
  }
  syncFolder(botsFolder(home));
  return directory.require(params.name);
}

/**
 * Only under the lock.
 * @throws ContractError `PROFILE_ALREADY_EXISTS`, `PROFILE_LIMIT`
 */
export function checkRoom(directory: Directory, name: string, limit: number): void {
  if (lstatSync(botFolder(directory.home, name), { throwIfNoEntry: false })) {
    throw new ContractError('PROFILE_ALREADY_EXISTS', whyTaken(directory, name));
  }
  if (directory.list().length - 1 >= limit) {
    throw new ContractError(
      'PROFILE_LIMIT',
      `There can be ${limit} bots beside the default one. Delete one first.`,
    );
  }
}

function whyTaken(directory: Directory, name: string): string {
  return directory.findFolder(name)?.profile.deleting
    ? `The bot ${name} is still being deleted. Its name is free when that is done.`
    : `A bot ${name} exists already.`;
}

function build(
  folder: string,
  source: Bot | null,
  params: CreateBotParams,
  wanted: NewBot,
  seed: number,
): void {
  mkdirSync(folder, { mode: 0o700 });
  faultPoint('bot-begun');
  for (const name of botFolders) mkdirSync(join(folder, name), { mode: 0o700 });
  if (source) copyCarriedFiles(source.folder, folder);
  const config = source ? carriedConfig(readConfig(source.folder)) : {};
  writeAtomically(join(folder, botFiles.config), toJson(withDefaults(config, params)));
  if (params.soul !== undefined) writeAtomically(join(folder, botFiles.soul), params.soul);
  writeProfile(folder, {
    ...newProfile(wanted.botId, wanted.at),
    displayName: params.displayName ?? '',
    description: params.description ?? '',
    markText: params.markText ?? '',
    markTone: params.markTone ?? '',
    markShape: params.markShape ?? '',
    markSeed: params.markSeed ?? seed,
  });
  createBotStore(folder);
}

/** Only under the lock: a bot whose commit fails is not there. */
export function commitOrTakeBack(bot: Bot, commit: (bot: Bot) => void): void {
  try {
    commit(bot);
  } catch (error) {
    const hidden = join(dirname(bot.folder), `${HIDDEN}${randomUUID()}`);
    renameSync(bot.folder, hidden);
    rmSync(hidden, { recursive: true });
    throw error;
  }
}
