import { createReadStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  ContractError,
  createBotParamsSchema,
  invalid,
  isFreeBotName,
  parseParams,
} from '@flowly/contract';
import { settleBotStore, type Database } from '@flowly/store';
import { readConfig } from '../bot-config';
import { carriedConfig } from '../clone';
import { checkRoom, commitOrTakeBack, removeLeftovers, type NewBot } from '../create-bot';
import { Directory, type Bot } from '../directory';
import { modelKeyLines } from '../env-file';
import { readText, syncFolder, toJson, writeAtomically } from '../files';
import { nextMarkSeed } from '../marks';
import { botFiles, botFolder, botFolders, botsFolder, newHiddenFolder, trashOf } from '../paths';
import { newProfile, readProfile, writeProfile, type Profile } from '../profile-file';
import { isSealed, open } from './cipher';
import { archiveLimits, MANIFEST, refuse, type ArchiveKind, type ArchiveLimits } from './layout';
import { readManifest } from './manifest';
import { sharedConfig, withoutAddresses } from './secrets';
import { unpack } from './unpack';

export interface Importing {
  /** A template or an encrypted backup. */
  from: string;
  /** Name of the new bot; absent: the one that the archive says. */
  name?: string | undefined;
  /** Puts the bot of a backup back: the same `botId`, name and everything it had. */
  restore: boolean;
  /** Asked for only when the archive is encrypted. */
  password: () => Promise<string>;
  /** As for a bot that is made; its `botId` is not used by a restore. */
  wanted: NewBot;
  limits?: ArchiveLimits;
}

export interface Imported {
  bot: Bot;
  kind: ArchiveKind;
}

/**
 * Makes a bot of an archive: unpacked in a hidden folder and published by one rename, all of it or nothing. Only while
 * no service runs. `commit` (the event) is part of the transaction of the directory's lock.
 * @throws ContractError `INVALID` (no archive, a wrong password, something that does not belong there),
 *   `REQUEST_TOO_LARGE`, `INVALID_PARAMS`, `PROFILE_ALREADY_EXISTS`, `PROFILE_LIMIT`, `PROFILE_OPERATION_FAILED`; an
 *   error of the file system
 */
export async function importBot(
  host: Database,
  home: string,
  importing: Importing,
  commit: (bot: Bot) => void,
): Promise<Imported> {
  const { kind, content } = await openArchive(importing);
  if (importing.restore && kind === 'template') {
    invalid('Only a backup can be restored; a template makes a new bot.');
  }
  return host.hold(async () => {
    removeLeftovers(home);
    const hidden = newHiddenFolder(home);
    mkdirSync(hidden, { mode: 0o700 });
    try {
      await unpack(content(), hidden, kind, importing.limits ?? archiveLimits);
      const bot = await publish(home, hidden, kind, importing);
      commitOrTakeBack(bot, commit);
      return { bot, kind };
    } finally {
      rmSync(hidden, { recursive: true, force: true });
    }
  });
}

async function openArchive({ from, password }: Importing) {
  const read = () => createReadStream(from) as AsyncIterable<Buffer>;
  if (!isSealed(await headOf(from))) return { kind: 'template' as const, content: read };
  return { kind: 'backup' as const, content: await open(read, await password()) };
}

async function headOf(file: string): Promise<Buffer> {
  const handle = await openFile(file, 'r');
  try {
    if (!(await handle.stat()).isFile()) refuse('no file');
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function publish(
  home: string,
  hidden: string,
  kind: ArchiveKind,
  { name: given, restore, wanted }: Importing,
): Promise<Bot> {
  const manifest = readManifest(readText(join(hidden, MANIFEST)), kind);
  rmSync(join(hidden, MANIFEST));
  const name = given ?? manifest.name;
  if (restore && name !== manifest.name)
    invalid(`A restored bot has the name it had: ${manifest.name}.`);
  if (!isFreeBotName(name)) invalid(`The name ${name} is reserved or invalid.`);
  const directory = new Directory(home);
  checkRoom(directory, name, wanted.limit);
  for (const folder of botFolders)
    mkdirSync(join(hidden, folder), { recursive: true, mode: 0o700 });
  const botId = restore
    ? keepIdentity(directory, hidden, name)
    : giveIdentity(directory, hidden, kind, wanted, name);
  await settleBotStore(hidden, { botId, isAnother: !restore });
  renameSync(hidden, botFolder(home, name));
  syncFolder(botsFolder(home));
  return directory.require(name);
}

/**
 * @throws ContractError `PROFILE_ALREADY_EXISTS` when the bot is there, under whatever name; `PROFILE_BUSY` while its
 *   deletion is not over: whoever finishes it would tell of the restored bot that it is gone
 */
function keepIdentity(directory: Directory, hidden: string, name: string): string {
  const profile = readProfile(hidden) ?? refuse('no bot');
  readConfig(hidden);
  const same = directory.list().find(({ botId }) => botId === profile.botId);
  if (same)
    throw new ContractError(
      'PROFILE_ALREADY_EXISTS',
      `This bot is there already, as ${same.name}.`,
    );
  if (existsSync(trashOf(directory.home, { name, botId: profile.botId }))) {
    throw new ContractError(
      'PROFILE_BUSY',
      'Its deletion is not over. Start Flowly once, then try again.',
    );
  }
  return profile.botId;
}

/** A new bot by the rules of `createBot`: an identity of its own and nothing that only the first one may have. */
function giveIdentity(
  directory: Directory,
  hidden: string,
  kind: ArchiveKind,
  { botId, at }: NewBot,
  name: string,
): string {
  const config = readConfig(hidden);
  const carried =
    kind === 'template' ? withoutAddresses(sharedConfig(config)) : carriedConfig(config);
  writeAtomically(join(hidden, botFiles.config), toJson(carried));
  const env = readText(join(hidden, botFiles.env));
  if (env !== null) writeAtomically(join(hidden, botFiles.env), modelKeyLines(env));
  writeProfile(hidden, {
    ...newProfile(botId, at),
    ...shownAs(join(hidden, botFiles.profile), name),
    markSeed: nextMarkSeed(directory.list()),
  });
  return botId;
}

const shownSchema = z.looseObject({});

/** How the bot is shown, held to what `profiles.create` takes. @throws ContractError `INVALID_PARAMS` */
function shownAs(file: string, name: string): Partial<Profile> {
  const stored =
    shownSchema.safeParse(asJson(readText(file) ?? '{}')).data ??
    refuse('no readable profile.json');
  const { displayName, description, markText, markTone, markShape } = stored;
  const params = parseParams(createBotParamsSchema, {
    name,
    displayName,
    description,
    markText,
    markTone,
    markShape,
  });
  return Object.fromEntries(
    (['displayName', 'description', 'markText', 'markTone', 'markShape'] as const).map((key) => [
      key,
      params[key] ?? '',
    ]),
  );
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
