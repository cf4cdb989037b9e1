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
 * `default` is the data folder itself. Not here: changes, which take the directory's lock.
 */
export class Directory {
  private readonly profiles = new ProfileCache();

  constructor(readonly home: string) {}

  /** All bots: `default`, then by name. */
  list(): Bot[] {
    return [DEFAULT_BOT, ...this.folderNames()].flatMap((name) => this.find(name) ?? []);
  }

  find(name: string): Bot | null {
    if (name !== DEFAULT_BOT && !isFreeBotName(name)) return null;
    const folder = botFolder(this.home, name);
    if (name !== DEFAULT_BOT && !isFolder(folder)) return null;
    const profile = this.profiles.read(folder);
    return profile && { name, botId: profile.botId, folder, profile };
  }

  /** @throws ContractError `PROFILE_NOT_FOUND` */
  require(name: string): Bot {
    const bot = this.find(name);
    if (!bot) throw new ContractError('PROFILE_NOT_FOUND', `The bot ${name} does not exist.`);
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

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
