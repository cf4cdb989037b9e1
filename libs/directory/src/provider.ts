import {
  providerKeyNames,
  providerSlots,
  providerSlotSchema,
  type ProviderSlot,
} from '@flowly/contract';
import { defaultsOf, readConfig, slotOf, type BotConfig } from './bot-config';
import { readModelKeys } from './env-file';

/** Where a slot's key comes from. */
export type KeySource = 'config' | 'env' | 'built-in';

/** What a bot's next turn will use. `apiKey` is a secret: never in an answer, event, log or error. */
export interface ResolvedProvider {
  slot: ProviderSlot;
  source: KeySource;
  apiKey?: string;
  apiBase?: string;
  /** The bot's default model; null means the slot's own. */
  model: string | null;
}

/** A slot as clients are told of it. */
export interface SlotState {
  slot: ProviderSlot;
  hasKey: boolean;
  apiBase: string | null;
}

export interface Providers {
  slots: SlotState[];
  /** What the owner chose; null leaves it to the first slot that has a key. */
  chosen: ProviderSlot | null;
  /** The bot's default model. */
  model: string | null;
  /** Null when nothing is chosen and no slot has a key. */
  resolved: ResolvedProvider | null;
}

/**
 * A bot's providers as its files say at this moment (bots.md §1); the process's environment never
 * counts. `config.json` is read before `.env`, the reverse of how they are written, so that a key
 * is never paired with an address it was not given for.
 * @throws ContractError when `config.json` cannot be read
 */
export function readProviders(folder: string): Providers {
  const config = readConfig(folder);
  const slots = slotsOf(config, readModelKeys(folder));
  const defaults = defaultsOf(config);
  const chosen = providerSlotSchema.safeParse(defaults.provider).data ?? null;
  const model = defaults.model || null;
  const found = slots.find(({ slot, hasKey }) => (chosen ? slot === chosen : hasKey));
  return {
    slots: slots.map(({ slot, hasKey, apiBase }) => ({ slot, hasKey, apiBase: apiBase || null })),
    chosen,
    model,
    resolved: found ? resolved(found, model) : null,
  };
}

/** A slot with its key and address, chosen or not; read as {@link readProviders} reads. */
export function readSlot(folder: string, wanted: ProviderSlot): Omit<ResolvedProvider, 'model'> {
  const config = readConfig(folder);
  const slot = slotFrom(config, readModelKeys(folder), wanted);
  return { slot: slot.slot, source: slot.source, ...secrets(slot) };
}

/** Whether a turn can be tried: the provider has what it needs. */
export function isReady(provider: ResolvedProvider | null): boolean {
  if (!provider) return false;
  const { slot, apiKey, apiBase } = provider;
  return slot === 'demo' || apiKey !== undefined || (slot === 'vllm' && apiBase !== undefined);
}

interface Slot {
  slot: ProviderSlot;
  apiKey: string;
  apiBase: string;
  source: KeySource;
  hasKey: boolean;
}

function slotsOf(config: BotConfig, keys: ReadonlyMap<string, string>): Slot[] {
  return providerSlots.map((slot) => slotFrom(config, keys, slot));
}

function slotFrom(config: BotConfig, keys: ReadonlyMap<string, string>, slot: ProviderSlot): Slot {
  if (slot === 'demo') return { slot, apiKey: '', apiBase: '', source: 'built-in', hasKey: false };
  const own = slotOf(config, slot);
  const fromEnv = providerKeyNames[slot].flatMap((name) => keys.get(name) ?? [])[0] ?? '';
  return {
    slot,
    apiKey: own.apiKey || fromEnv,
    apiBase: own.apiBase,
    source: !own.apiKey && fromEnv ? 'env' : 'config',
    // A server of one's own needs an address, not a key.
    hasKey: (own.apiKey || fromEnv) !== '' || (slot === 'vllm' && own.apiBase !== ''),
  };
}

function resolved(slot: Slot, model: string | null): ResolvedProvider {
  return { slot: slot.slot, source: slot.source, ...secrets(slot), model };
}

function secrets({ apiKey, apiBase }: Slot): { apiKey?: string; apiBase?: string } {
  return { ...(apiKey && { apiKey }), ...(apiBase && { apiBase }) };
}
