import type { LanguageModelV3Usage } from '@ai-sdk/provider';
import { z } from 'zod';
import type { Usage } from '@flowly/contract';

/** What compatible servers (OpenRouter) report and the SDK's own conversion leaves out. */
const rawCacheWrite = z.object({
  prompt_tokens_details: z.object({ cache_write_tokens: z.number() }),
});

/**
 * Tokens of a call as the contract counts them (wire.md §5.1). The SDK's input total includes cache
 * reads and writes for every provider, also Anthropic, whose own count leaves them out.
 * @returns null when the provider sent none.
 */
export function normaliseUsage(usage: LanguageModelV3Usage): Usage | null {
  const prompt = count(usage.inputTokens.total);
  const completion = count(usage.outputTokens.total);
  if (prompt + completion === 0) return null;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cache_read_tokens: count(usage.inputTokens.cacheRead),
    cache_write_tokens: count(usage.inputTokens.cacheWrite ?? cacheWriteIn(usage.raw)),
  };
}

function cacheWriteIn(raw: unknown): number | undefined {
  return rawCacheWrite.safeParse(raw).data?.prompt_tokens_details.cache_write_tokens;
}

/** Servers have been seen to send fractions, negatives and nothing; the sum of two must stay exact. */
function count(value: number | undefined): number {
  return value === undefined || Number.isNaN(value)
    ? 0
    : Math.min(Math.max(0, Math.trunc(value)), 2 ** 52 - 1);
}
