import type { ProviderSlot } from '@flowly/contract';
import { contextWindow } from './context-window';

it.each<[ProviderSlot, string, number, boolean]>([
  ['anthropic', 'claude-sonnet-4-6', 200_000, true],
  ['openai', 'gpt-5.4-mini', 400_000, true],
  ['openai', 'gpt-4o-mini', 128_000, true],
  ['openai', 'gpt-4', 8_192, true],
  ['openai', 'gpt-4.1', 1_047_576, true],
  ['openai', 'o3-mini', 200_000, true],
  ['openrouter', 'anthropic/claude-3.5-sonnet', 200_000, true],
  ['openrouter', 'openrouter/auto', 32_768, false],
  ['gemini', 'models/gemini-2.5-flash', 1_048_576, true],
  ['groq', 'llama-3.3-70b-versatile', 131_072, true],
  ['xai', 'grok-4', 256_000, true],
  ['zhipu', 'glm-4.6', 200_000, true],
  ['groq', 'something-new', 32_768, false],
  ['vllm', 'llama-3.3-70b', 8_192, false],
])('%s %s: %i tokens', (slot, model, tokens, isKnown) => {
  expect(contextWindow({ slot, model })).toEqual({ tokens, isKnown });
});
