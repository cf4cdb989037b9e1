import { z } from 'zod';

/** Provider slots, in the order in which the first one with a key is chosen. */
export const providerSlots = [
  'anthropic',
  'openai',
  'openrouter',
  'gemini',
  'groq',
  'xai',
  'zhipu',
  'vllm',
  'demo',
] as const;
export const providerSlotSchema = z.enum(providerSlots);
export type ProviderSlot = z.infer<typeof providerSlotSchema>;

/** Names of each slot's key in a bot's `.env`, the one that counts first (bots.md §1). */
export const providerKeyNames: Readonly<Record<ProviderSlot, readonly string[]>> = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  openrouter: ['OPENROUTER_API_KEY'],
  gemini: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  groq: ['GROQ_API_KEY'],
  xai: ['XAI_API_KEY'],
  zhipu: ['ZAI_API_KEY', 'ZHIPU_API_KEY', 'ZHIPUAI_API_KEY'],
  vllm: ['VLLM_API_KEY'],
  demo: [],
};
