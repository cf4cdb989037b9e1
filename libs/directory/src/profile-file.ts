import { join } from 'node:path';
import { z } from 'zod';
import { deletionSchema } from '@flowly/store';
import { readText, toJson, writeAtomically } from './files';
import { botFiles } from './paths';

const text = z.string().catch('');

/** `profile.json`: who a bot is and how it is shown. What is not understood is kept. */
const profileSchema = z.looseObject({
  botId: z.guid(),
  displayName: text,
  description: text,
  markText: text,
  markTone: text,
  markSeed: z.number().int().nullable().catch(null),
  markShape: text,
  /** ISO, Z. */
  createdAt: z.string().catch('1970-01-01T00:00:00.000Z'),
  updatedAt: z.string().catch('1970-01-01T00:00:00.000Z'),
  /** The bot is being deleted: what its database has decided, for whoever reads the folder alone. */
  deleting: deletionSchema.optional().catch(undefined),
});
export type Profile = z.infer<typeof profileSchema>;

export function newProfile(botId: string, at: number): Profile {
  const now = new Date(at).toISOString();
  return {
    botId,
    displayName: '',
    description: '',
    markText: '',
    markTone: '',
    markSeed: null,
    markShape: '',
    createdAt: now,
    updatedAt: now,
  };
}

/** Null when there is none that can be read: such a folder is no bot. */
export function readProfile(folder: string): Profile | null {
  const stored = readText(join(folder, botFiles.profile));
  return stored === null ? null : parsed(stored);
}

export function writeProfile(folder: string, profile: Profile): void {
  writeAtomically(join(folder, botFiles.profile), toJson(profile));
}

function parsed(stored: string): Profile | null {
  try {
    return profileSchema.safeParse(JSON.parse(stored)).data ?? null;
  } catch {
    return null; // not JSON
  }
}
