import type { ProviderSlot } from '@flowly/contract';

/** The keys that count in a bot's `.env`, in their order (bots.md §1), and the slot each is for. */
export const envKeys: readonly { name: string; slot: ProviderSlot }[] = [
  { name: 'ANTHROPIC_API_KEY', slot: 'anthropic' },
  { name: 'OPENAI_API_KEY', slot: 'openai' },
  { name: 'OPENROUTER_API_KEY', slot: 'openrouter' },
  { name: 'GEMINI_API_KEY', slot: 'gemini' },
  { name: 'GOOGLE_API_KEY', slot: 'gemini' },
  { name: 'GROQ_API_KEY', slot: 'groq' },
  { name: 'XAI_API_KEY', slot: 'xai' },
  { name: 'ZAI_API_KEY', slot: 'zhipu' },
  { name: 'ZHIPU_API_KEY', slot: 'zhipu' },
  { name: 'ZHIPUAI_API_KEY', slot: 'zhipu' },
  { name: 'VLLM_API_KEY', slot: 'vllm' },
];

/** Names of a slot's key in `.env`, the one that counts first. */
export function envKeyNames(slot: ProviderSlot): string[] {
  return envKeys.filter((key) => key.slot === slot).map((key) => key.name);
}
