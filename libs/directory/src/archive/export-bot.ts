import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DEFAULT_BOT, GROUP_MEDIA_PREFIX } from '@flowly/contract';
import { BOT_DATABASE, copyBotStore, publishFile, syncToDisk, type Database } from '@flowly/store';
import { readConfig } from '../bot-config';
import { removeLeftovers } from '../create-bot';
import { Directory, type Bot } from '../directory';
import { readText, toJson } from '../files';
import { botFiles, newHiddenFolder } from '../paths';
import { checkPassword, seal } from './cipher';
import { archiveLimits, MANIFEST, type ArchiveKind, type ArchiveLimits } from './layout';
import { newManifest } from './manifest';
import { checkSize, itemsOf, packed, type Item } from './pack';
import { sharedConfig } from './secrets';

export interface Exporting {
  name: string;
  /** The file to make; one that is there is left as it is. */
  to: string;
  /** With a password it is an encrypted backup, without one a template. */
  password?: string | undefined;
  /** Unix ms. */
  at: number;
  limits?: ArchiveLimits;
}

export interface Exported {
  kind: ArchiveKind;
  name: string;
  botId: string;
  entries: number;
  /** Links and special files, which no archive holds. */
  leftOut: number;
}

/**
 * Writes a bot into one file (0600), whole or not at all. Only while no service runs.
 * @throws ContractError `PROFILE_NOT_FOUND`, `INVALID_PARAMS` (password), `REQUEST_TOO_LARGE`,
 *   `PROFILE_OPERATION_FAILED`; an error of the file system, EEXIST when there is such a file
 */
export async function exportBot(
  host: Database,
  home: string,
  wanted: Exporting,
): Promise<Exported> {
  const { password, to } = wanted;
  if (password !== undefined) checkPassword(password);
  return host.hold(async () => {
    removeLeftovers(home);
    const bot = new Directory(home).require(wanted.name);
    const scratch = newHiddenFolder(home);
    mkdirSync(scratch, { mode: 0o700 });
    try {
      const kind = password === undefined ? 'template' : 'backup';
      const { items, leftOut } = await contentOf(bot, kind, scratch, wanted.at);
      checkSize(items, wanted.limits ?? archiveLimits);
      const content = packed(items);
      await writeOnce(password === undefined ? content : seal(content, password), to);
      return { kind, name: bot.name, botId: bot.botId, entries: items.length, leftOut };
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });
}

async function contentOf(
  bot: Bot,
  kind: ArchiveKind,
  scratch: string,
  at: number,
): Promise<{ items: Item[]; leftOut: number }> {
  const manifest = toJson(newManifest(kind, bot.name, at));
  const head: Item = { path: MANIFEST, type: 'text', text: manifest };
  const own = kind === 'template' ? templateFiles(bot) : backupFiles(bot, scratch);
  const { items, leftOut } = await itemsOf(kind, bot.folder, (path) => isOwn(bot, path));
  return { items: [head, ...own, ...items], leftOut };
}

/** The data folder is also that of `default`: files of groups and logs of services are not the bot's. */
function isOwn({ name }: Bot, path: string): boolean {
  if (name !== DEFAULT_BOT) return true;
  return !path.startsWith(`${botFiles.media}/${GROUP_MEDIA_PREFIX}`) && !path.startsWith('logs/');
}

function templateFiles({ folder, profile }: Bot): Item[] {
  const { displayName, description, markText, markTone, markShape } = profile;
  const shown = { displayName, description, markText, markTone, markShape };
  return [
    { path: botFiles.config, type: 'text', text: toJson(sharedConfig(readConfig(folder))) },
    { path: botFiles.profile, type: 'text', text: toJson(shown) },
  ];
}

function backupFiles({ folder }: Bot, scratch: string): Item[] {
  const texts = [botFiles.config, botFiles.profile, botFiles.env].flatMap((path): Item[] => {
    const text = readText(join(folder, path));
    return text === null ? [] : [{ path, type: 'text', text }];
  });
  const source = join(scratch, BOT_DATABASE);
  if (!copyBotStore(folder, source)) return texts;
  return [...texts, { path: BOT_DATABASE, type: 'file', source, size: statSync(source).size }];
}

/** Under a name of its own until it is whole and on the disk. */
async function writeOnce(content: AsyncIterable<Buffer>, to: string): Promise<void> {
  const part = `${to}.${randomUUID()}.part`;
  try {
    await pipeline(content, createWriteStream(part, { flags: 'wx', mode: 0o600 }));
    syncToDisk(part);
    publishFile(part, to);
    syncToDisk(dirname(to));
  } finally {
    rmSync(part, { force: true });
  }
}
