import { join } from 'node:path';
import { z } from 'zod';
import { ContractError, type ProviderSlot } from '@flowly/contract';
import { readText } from './files';
import { botFiles } from './paths';

const textSchema = z.string().nullish();

/** `config.json` of a bot; what is not named here is kept as it stands. */
const configSchema = z.looseObject({
  providers: z.record(z.string(), z.unknown()).nullish(),
  agents: z.looseObject({ defaults: z.record(z.string(), z.unknown()).nullish() }).nullish(),
});
export type BotConfig = z.infer<typeof configSchema>;

const defaultsSchema = z.looseObject({ provider: textSchema, model: textSchema });
const slotSchema = z.looseObject({ apiKey: textSchema, apiBase: textSchema });

/**
 * Read afresh at each call; a missing file is an empty one.
 * @throws ContractError `PROFILE_OPERATION_FAILED`, not retryable, when it is no valid configuration
 */
export function readConfig(folder: string): BotConfig {
  const stored = readText(join(folder, botFiles.config));
  if (stored === null) return {};
  try {
    return configSchema.parse(JSON.parse(stored));
  } catch {
    // Without its cause: that may quote the file, which holds keys.
    const message = "The bot's config.json is not a valid configuration.";
    throw new ContractError('PROFILE_OPERATION_FAILED', message, { retryable: false });
  }
}

/** Key and address of a slot, empty when not set. */
export function slotOf(config: BotConfig, slot: ProviderSlot): { apiKey: string; apiBase: string } {
  const entry = slotSchema.safeParse(config.providers?.[slot]).data;
  return { apiKey: entry?.apiKey?.trim() ?? '', apiBase: entry?.apiBase?.trim() ?? '' };
}

/** Provider and model of the bot's turns as chosen, empty when not. */
export function defaultsOf(config: BotConfig): { provider: string; model: string } {
  const entry = defaultsSchema.safeParse(config.agents?.defaults).data;
  return { provider: entry?.provider?.trim() ?? '', model: entry?.model?.trim() ?? '' };
}

type Changes = Record<string, string | undefined>;

/** The configuration with these members of a slot set; "" takes one away, an absent one stays. */
export function withSlot(config: BotConfig, slot: ProviderSlot, changes: Changes): BotConfig {
  const entry = slotSchema.safeParse(config.providers?.[slot]).data ?? {};
  return { ...config, providers: { ...config.providers, [slot]: changed(entry, changes) } };
}

/** The configuration with another default provider or model; "" clears the choice. */
export function withDefaults(
  config: BotConfig,
  { provider, model }: { provider?: string | undefined; model?: string | undefined },
): BotConfig {
  if (provider === undefined && model === undefined) return config;
  const defaults = changed(config.agents?.defaults ?? {}, { provider, model });
  return { ...config, agents: { ...config.agents, defaults } };
}

function changed(entry: Record<string, unknown>, changes: Changes): Record<string, unknown> {
  const left = Object.entries(entry).filter(([key]) => changes[key] === undefined);
  const set = Object.entries(changes).map(([key, value]) => [key, value?.trim() ?? ''] as const);
  return Object.fromEntries([...left, ...set.filter(([, value]) => value !== '')]);
}
