import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createExclusively, readText, toJson } from './files';
import { readModelKeys } from './env-file';
import { botFiles, botFolders, botsFolder } from './paths';
import { newProfile, readProfile } from './profile-file';

const HOST_FILE = 'profile-host.json';
const DEFAULT_SOUL = `You are a helpful assistant. Answer in the language you are asked in, briefly and honestly.\n`;

const hostSchema = z.looseObject({ version: z.literal(1), hostId: z.guid() });

/**
 * Makes what is missing of the data folder and its bot `default`, which starts on the provider
 * `demo`. Every file is made by exclusive create, so any number of processes may do it at once.
 * @throws Error when a file that must be read cannot be
 */
export function prepareHome(home: string): { hostId: string } {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const isNew =
    mkdirSync(join(home, botFiles.workspace), { recursive: true, mode: 0o700 }) !== undefined;
  for (const folder of [...botFolders.map((name) => join(home, name)), botsFolder(home)]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  if (isNew) createExclusively(join(home, botFiles.soul), DEFAULT_SOUL);
  createExclusively(join(home, botFiles.config), toJson(firstConfig(home)));
  createExclusively(join(home, botFiles.profile), toJson(newProfile(randomUUID(), Date.now())));
  if (!readProfile(home)) throw new Error('profile.json of the bot default cannot be read.');
  createExclusively(join(home, HOST_FILE), toJson({ version: 1, hostId: randomUUID() }));
  return { hostId: readHostId(home) };
}

/** A key in `.env` says what the owner wants to use; else the bot answers without one. */
function firstConfig(home: string): object {
  return readModelKeys(home).size > 0 ? {} : { agents: { defaults: { provider: 'demo' } } };
}

function readHostId(home: string): string {
  const stored = hostSchema.safeParse(JSON.parse(readText(join(home, HOST_FILE)) ?? 'null'));
  if (!stored.success) throw new Error(`${HOST_FILE} cannot be read.`);
  return stored.data.hostId;
}
