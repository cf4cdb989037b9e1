import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { faultPoint } from '@flowly/faults';
import type { Database, Deletion } from '@flowly/store';
import { Directory } from './directory';
import { isMissing, syncFolder } from './files';
import { underLock } from './lock';
import { botsFolder, trashFolder, trashOf } from './paths';
import { readProfile, writeProfile } from './profile-file';

/** How many names are removed under the lock at once, and how long it is left to others then. */
const NAMES_AT_ONCE = 500;
const PAUSE_MS = 5;

/**
 * What a deletion does to a bot's folder (bots.md §2), when the bot's database has decided it: hidden at once, it keeps
 * its name until its groups have been left, for they know it by that name; then it goes into the trash, from where it
 * is removed. Each step may be repeated by any process, and a crash between two of them is finished by another.
 */
export interface NamedBot {
  name: string;
  botId: string;
}

/** A bot that is gone, and the deletion that took it. */
export interface GoneBot extends NamedBot {
  deletion: Deletion;
}

/** Hides a bot whose deletion is decided from everybody who reads the directory. */
export function hideBot(
  host: Database,
  home: string,
  { name, botId }: NamedBot,
  deletion: Deletion,
): Promise<void> {
  const directory = new Directory(home);
  return underLock(host, () => {
    const bot = directory.find(name);
    if (bot?.botId !== botId) return;
    writeProfile(bot.folder, { ...bot.profile, deleting: deletion });
    faultPoint('bot-hidden');
  });
}

/**
 * Takes a hidden bot's folder out of the directory, so that its name is free, and calls `commit` (outcome and outbox of
 * its deletion) in the same transaction of the directory's lock.
 * @param isFree whether no process works on it any more; asked under the lock
 * @returns false when it is not free yet
 */
export async function removeBot(
  host: Database,
  home: string,
  { name, botId }: NamedBot,
  isFree: () => boolean,
  commit: (gone: GoneBot) => void,
): Promise<boolean> {
  const directory = new Directory(home);
  const isGone = await underLock(host, () => {
    const bot = directory.findFolder(name);
    if (bot?.botId !== botId || !bot.profile.deleting) return true;
    if (!isFree()) return false;
    mkdirSync(trashFolder(home), { recursive: true, mode: 0o700 });
    renameSync(bot.folder, trashOf(home, bot));
    syncFolder(trashFolder(home));
    syncFolder(botsFolder(home));
    faultPoint('bot-trashed');
    commit({ name, botId, deletion: bot.profile.deleting });
    return true;
  });
  if (isGone) await emptyTrash(host, home, commit);
  return isGone;
}

/**
 * Removes what is in the trash. Of a bot whose process died before it committed, `commit` is called first; it may be
 * called of one that was committed, too. What lies there was moved under the lock when nobody worked on it.
 */
export async function emptyTrash(
  host: Database,
  home: string,
  commit: (gone: GoneBot) => void,
): Promise<void> {
  if (trashed(home).length === 0) return;
  const settled = await underLock(host, () => {
    const folders = trashed(home);
    for (const folder of folders) settle(folder, commit);
    return folders;
  });
  for (const folder of settled) {
    while (!(await underLock(host, () => removeSome(folder)))) await delay(PAUSE_MS);
  }
}

/** Whether the folder is gone. It may hold any number of files, and neither this process nor the others wait for all. */
function removeSome(folder: string): boolean {
  const isGone = removeNames(folder, { left: NAMES_AT_ONCE });
  if (isGone) faultPoint('trash-emptied');
  return isGone;
}

function removeNames(path: string, names: { left: number }): boolean {
  if (names.left-- <= 0) return false;
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    for (const name of readdirSync(path)) {
      if (!removeNames(join(path, name), names)) return false;
    }
  }
  rmSync(path, { recursive: true, force: true });
  return true;
}

/** One without a profile was being removed when its process died. */
function settle(folder: string, commit: (gone: GoneBot) => void): void {
  const profile = readProfile(folder);
  if (!profile?.deleting) return;
  commit({ name: nameOf(folder), botId: profile.botId, deletion: profile.deleting });
}

function trashed(home: string): string[] {
  try {
    return readdirSync(trashFolder(home)).map((name) => join(trashFolder(home), name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The name before the id; no name of a bot has a dot. */
function nameOf(folder: string): string {
  return basename(folder).split('.')[0] ?? '';
}
