import { lstatSync, readdirSync } from 'node:fs';
import { ContractError, DEFAULT_BOT, isFreeBotName } from '@flowly/contract';
import { isMissing } from './files';
import { botFolder, botsFolder } from './paths';
import { ProfileCache } from './profile-cache';
import type { Profile } from './profile-file';

/** A bot as its folder says. */
export interface Bot {
  name: string;
  botId: string;
  folder: string;
  profile: Readonly<Profile>;
}

/**
 * The bots of an installation, looked up on the disk at each call: other processes change them.
 *
 * A bot is a real folder (no link) of a good name under `profiles/` with a readable `profile.json`;
 * `default` is the data folder itself. One that is being deleted is no bot any more, but has its folder until its
 * groups have been left (`delete-bot.ts`). Not here: changes, which take the directory's lock.
 */
export class Directory {
  private readonly profiles = new ProfileCache();

  constructor(readonly home: string) {}

  /** All bots: `default`, then by name. */
  list(): Bot[] {
    return [DEFAULT_BOT, ...this.folderNames()].flatMap((name) => this.find(name) ?? []);
  }

  find(name: string): Bot | null {
    const bot = this.findFolder(name);
    return bot?.profile.deleting ? null : bot;
  }

  /** Bots that are being deleted and still have their folder, by name. */
  leaving(): Bot[] {
    return this.folderNames().flatMap((name) => {
      const bot = this.findFolder(name);
      return bot?.profile.deleting ? [bot] : [];
    });
  }

  /** Whose folder this is, also one that is being deleted. */
  findFolder(name: string): Bot | null {
    if (name !== DEFAULT_BOT && !isFreeBotName(name)) return null;
    const folder = botFolder(this.home, name);
    if (name !== DEFAULT_BOT && !isFolder(folder)) return null;
    const profile = this.profiles.read(folder);
    return profile && { name, botId: profile.botId, folder, profile };
  }

  /** @throws ContractError `PROFILE_NOT_FOUND` */
  require(name: string): Bot {
    const bot = this.find(name);
    if (!bot) throw noSuchBot(name);
    return bot;
  }

  private folderNames(): string[] {
    try {
      return readdirSync(botsFolder(this.home)).filter(isFreeBotName).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }
}

export function noSuchBot(name: string): ContractError {
  return new ContractError('PROFILE_NOT_FOUND', `The bot ${name} does not exist.`);
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
