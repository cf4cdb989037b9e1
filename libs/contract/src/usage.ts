import { z } from 'zod';

const count = z.number().int().min(0);

/** Tokens of one answer (wire.md §5.1); prompt tokens include cache reads and writes. */
export const usageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
});
export type Usage = z.infer<typeof usageSchema>;

/** What a group has used (groups.md §8), as shown; `costUsd` only when something is priced. */
export const groupUsageSchema = z.object({
  turns: count,
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  members: z.array(
    z.object({
      profile: z.string(),
      model: z.string(),
      calls: count,
      inputTokens: count,
      outputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      costUsd: z.number().optional(),
    }),
  ),
  costUsd: z.number().optional(),
  costPartial: z.boolean().optional(),
});
export type GroupUsage = z.infer<typeof groupUsageSchema>;
