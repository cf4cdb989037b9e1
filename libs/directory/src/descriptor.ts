import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import {
  ContractError,
  DEFAULT_BOT,
  type BotDescriptor,
  type BotSettings,
  type readinessReportSchema,
} from '@flowly/contract';
import type { Bot } from './directory';
import { readText } from './files';
import { botFiles } from './paths';
import { isReady, readProviders, type Providers } from './provider';

const DEFAULT_DISPLAY_NAME = 'Flowly';

/**
 * A bot as clients see it (bots.md §1): never a path, never a key.
 * @param stoppedByUser what its database says
 */
export function describeBot(bot: Bot, stoppedByUser: boolean): BotDescriptor {
  const { profile, name } = bot;
  const providers = providersIfReadable(bot);
  return {
    name,
    isDefault: name === DEFAULT_BOT,
    hasConfig: existsSync(join(bot.folder, botFiles.config)),
    displayName: profile.displayName || (name === DEFAULT_BOT ? DEFAULT_DISPLAY_NAME : name),
    description: profile.description,
    provider: providers?.resolved?.slot ?? null,
    model: providers?.model ?? null,
    markText: profile.markText,
    markTone: profile.markTone,
    markSeed: profile.markSeed,
    markShape: profile.markShape,
    createdAt: profile.createdAt,
    updatedAt: profile.updatedAt,
    botId: bot.botId,
    credentialPolicy: credentialPolicy(bot),
    stoppedByUser,
  };
}

/** What the owner chose for a bot; null leaves it open. */
export function settingsOf(bot: Bot): BotSettings {
  const providers = providersIfReadable(bot);
  return {
    name: bot.name,
    provider: providers?.chosen ?? null,
    model: providers?.model ?? null,
    soul: readSoul(bot.folder),
    credentialPolicy: credentialPolicy(bot),
  };
}

/** Whether a bot's turns can run (`profiles.create`). */
export function readinessOf(bot: Bot): z.infer<typeof readinessReportSchema> {
  const runnable = isReady(providersIfReadable(bot)?.resolved ?? null);
  return {
    runnable,
    authStatus: runnable ? 'ready' : 'missing',
    needsLogin: false,
    missingCapabilities: runnable ? [] : ['provider'],
    credentialPolicy: 'isolated',
  };
}

/** A bot's own instructions, "" when it has none. */
export function readSoul(folder: string): string {
  return readText(join(folder, botFiles.soul)) ?? '';
}

function credentialPolicy(bot: Bot): 'primary' | 'isolated' {
  return bot.name === DEFAULT_BOT ? 'primary' : 'isolated';
}

/** A file its owner broke by hand costs the bot its provider, not the list its bots. */
function providersIfReadable(bot: Bot): Providers | null {
  try {
    return readProviders(bot.folder);
  } catch (error) {
    if (error instanceof ContractError) return null;
    throw error;
  }
}
