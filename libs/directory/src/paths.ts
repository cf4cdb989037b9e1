import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DEFAULT_BOT } from '@flowly/contract';

/** Where things are in the data folder (bots.md §1). */
export const botFiles = {
  config: 'config.json',
  env: '.env',
  profile: 'profile.json',
  workspace: 'workspace',
  soul: join('workspace', 'SOUL.md'),
  media: 'media',
} as const;

/** Folders that every bot has. */
export const botFolders = [botFiles.workspace, 'credentials', botFiles.media, 'logs'] as const;

export function botsFolder(home: string): string {
  return join(home, 'profiles');
}

/** Where the folders of deleted bots are until they are removed. */
export function trashFolder(home: string): string {
  return join(botsFolder(home), '.trash');
}

/** Where a deleted bot's folder is until then. */
export function trashOf(home: string, { name, botId }: { name: string; botId: string }): string {
  return join(trashFolder(home), `${name}.${botId}`);
}

/** What begins so under `profiles/` is made under the lock only, so what its holder finds is a dead process's. */
export const HIDDEN = '.new-';

/** Where a bot is put together before it is published; still to be made. */
export function newHiddenFolder(home: string): string {
  return join(botsFolder(home), `${HIDDEN}${randomUUID()}`);
}

/** The folder of a bot: the data folder itself for `default`. */
export function botFolder(home: string, name: string): string {
  return name === DEFAULT_BOT ? home : join(botsFolder(home), name);
}

/** Where a bot's files for people are; for `default` the groups' are there too. */
export function mediaFolder({ folder }: { folder: string }): string {
  return join(folder, botFiles.media);
}
