import fc from 'fast-check';
import { usageSchema } from '@flowly/contract';
import { normaliseUsage } from './usage';

const number = fc.option(fc.oneof(fc.nat(), fc.double()), { nil: undefined });
const sdkUsage = fc.record({
  inputTokens: fc.record({ total: number, noCache: number, cacheRead: number, cacheWrite: number }),
  outputTokens: fc.record({ total: number, text: number, reasoning: number }),
});

it('is of the shape of the contract whatever the provider sent', () => {
  fc.assert(
    fc.property(sdkUsage, (usage) => {
      const normal = normaliseUsage(usage);
      if (normal === null) return;
      expect(usageSchema.parse(normal)).toEqual(normal);
      expect(normal.total_tokens).toBe(normal.prompt_tokens + normal.completion_tokens);
    }),
  );
});

it.each([undefined, 0])('is null when the counts are %p', (count) => {
  expect(
    normaliseUsage({
      inputTokens: { total: count, noCache: count, cacheRead: count, cacheWrite: count },
      outputTokens: { total: count, text: count, reasoning: count },
    }),
  ).toBeNull();
});

it('finds the cache writes that compatible servers report', () => {
  const usage = normaliseUsage({
    inputTokens: { total: 100, noCache: 36, cacheRead: 64, cacheWrite: undefined },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
    raw: {
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 64, cache_write_tokens: 20 },
    },
  });
  expect(usage).toMatchObject({
    prompt_tokens: 100,
    cache_read_tokens: 64,
    cache_write_tokens: 20,
  });
});
