import { join } from 'node:path';
import {
  ContractError,
  invalid,
  providerKeyNames,
  type ConfigureBotParams,
  type Credential,
  type ProviderSlot,
} from '@flowly/contract';
import type { Database } from '@flowly/store';
import { readConfig, slotOf, withDefaults, withSlot, type BotConfig } from './bot-config';
import { Directory, type Bot } from './directory';
import { withoutKeys } from './env-file';
import { readText, toJson, writeAtomically } from './files';
import { underLock } from './lock';
import { botFiles } from './paths';
import { writeProfile } from './profile-file';

export interface Configuring {
  /** Unix ms. */
  at: number;
  /** Whether a turn of the bot runs; asked under the lock, only for changes that a turn would notice. */
  isBusy: (bot: Bot) => boolean;
}

const PROFILE_KEYS = [
  'displayName',
  'description',
  'markText',
  'markTone',
  'markShape',
  'markSeed',
] as const;

/**
 * Changes a bot's settings (bots.md §2) and calls `commit` (outcome and outbox of the command) in one
 * transaction of the directory's lock. Each file is replaced as a whole; repeating a command that died
 * half-way ends the same. The credential of `params` is in the clear, for the files only.
 * @throws ContractError `PROFILE_NOT_FOUND`, `PROFILE_BUSY`, `INVALID_PARAMS`
 */
export async function configureBot(
  host: Database,
  home: string,
  params: ConfigureBotParams,
  { at, isBusy }: Configuring,
  commit: (bot: Bot) => void,
): Promise<Bot> {
  checkCredential(params.credential);
  const directory = new Directory(home);
  return underLock(host, () => {
    const bot = directory.require(params.name);
    const isFelt = [params.provider, params.model, params.soul].some(
      (value) => value !== undefined,
    );
    if (isFelt && isBusy(bot)) {
      throw new ContractError(
        'PROFILE_BUSY',
        'The bot is working. Change this when its turn has ended.',
      );
    }
    apply(bot, params, at);
    const changed = directory.require(params.name);
    commit(changed);
    return changed;
  });
}

function checkCredential(credential: Credential | undefined): void {
  if (!credential) return;
  if (credential.provider === 'demo') invalid('The provider demo takes no credential.');
  if (credential.apiKey === undefined && credential.apiBase === undefined) {
    invalid('There are no bot settings to change: a credential needs apiKey or apiBase.');
  }
}

function apply(bot: Bot, params: ConfigureBotParams, at: number): void {
  const stored = readConfig(bot.folder);
  const { credential, soul } = params;
  const base = credential && rebased(stored, credential);
  // Before config.json: whoever reads the new address must not find the old key (see readProviders).
  if (base?.dropEnvKey) removeEnvKey(bot.folder, base.slot);
  const config = withDefaults(base ? withSlot(stored, base.slot, base.changes) : stored, params);
  if (JSON.stringify(config) !== JSON.stringify(stored)) {
    writeAtomically(join(bot.folder, botFiles.config), toJson(config));
  }
  if (soul !== undefined) writeAtomically(join(bot.folder, botFiles.soul), soul);
  const shown = Object.fromEntries(
    PROFILE_KEYS.flatMap((key) => (params[key] === undefined ? [] : [[key, params[key]]])),
  );
  writeProfile(bot.folder, { ...bot.profile, ...shown, updatedAt: new Date(at).toISOString() });
}

/** A key belongs to the address it was given for: another address takes it away. */
function rebased(stored: BotConfig, credential: Credential) {
  const { provider: slot, apiKey, apiBase } = credential;
  const moves = apiBase !== undefined && apiBase.trim() !== slotOf(stored, slot).apiBase;
  return {
    slot,
    changes: { apiBase, apiKey: moves ? (apiKey ?? '') : apiKey },
    dropEnvKey: moves || apiKey?.trim() === '',
  };
}

function removeEnvKey(folder: string, slot: ProviderSlot): void {
  const file = join(folder, botFiles.env);
  const stored = readText(file);
  if (stored === null) return;
  const left = withoutKeys(stored, providerKeyNames[slot]);
  if (left !== stored) writeAtomically(file, left);
}
