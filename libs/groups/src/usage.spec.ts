import { groupUsageSchema } from '@flowly/contract';
import fc from 'fast-check';
import { memberCost, type PriceOf, withCost } from './cost';
import { foldUsage, publicUsage, readUsage, type StoredUsage } from './usage';

const tokens = (input: number, output: number, cacheRead = 0) => ({
  prompt_tokens: input,
  completion_tokens: output,
  cache_read_tokens: cacheRead,
});
const fold = (turns: [string, number, number][], model = 'm/one') =>
  turns.reduce<StoredUsage | null>(
    (stored, [member, input, output]) =>
      foldUsage(stored, { member, model, usage: tokens(input, output) }),
    null,
  );
const priced = (stored: StoredUsage | null, priceOf: PriceOf) => {
  const shown = publicUsage(stored);
  return shown && withCost(shown, priceOf);
};

describe('foldUsage', () => {
  it('G160 G167 sums the turns and the members', () => {
    const usage = publicUsage(
      fold([
        ['writer', 1_000, 100],
        ['writer', 500, 50],
        ['default', 200, 20],
      ]),
    );
    expect(usage).toMatchObject({ turns: 3, inputTokens: 1_700, outputTokens: 170 });
    expect(usage?.members.map(({ profile }) => profile)).toEqual(['default', 'writer']);
    expect(usage?.members[1]).toEqual({
      profile: 'writer',
      calls: 2,
      model: 'm/one',
      inputTokens: 1_500,
      outputTokens: 150,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    });
  });

  it.each([null, {}, tokens(0, 0)])('G161 %j counts nothing', (usage) => {
    const stored = foldUsage(null, { member: 'writer', model: 'm', usage });
    expect(stored).toBeNull();
    expect(publicUsage(stored)).toBeNull();
  });

  it('has at most 24 member rows; later newcomers count in the totals only', () => {
    const crowd = fold(Array.from({ length: 30 }, (_, at) => [`bot-${at}`, 10, 1]));
    const again = foldUsage(crowd, { member: 'bot-3', model: '', usage: tokens(5, 0) });
    expect(Object.keys(again?.members ?? {})).toHaveLength(24);
    expect(again).toMatchObject({ turns: 31, inputTokens: 305 });
    expect(again?.members['bot-3']).toMatchObject({ calls: 2, model: 'm/one', inputTokens: 15 });
    const shown = priced(again, () => ({ input: 1, output: 1 }));
    expect(shown?.costPartial).toBe(true);
  });

  it('stops at 2^53−1', () => {
    const full = fold([
      ['writer', Number.MAX_SAFE_INTEGER, 1],
      ['writer', 5, 1],
    ]);
    expect(full?.inputTokens).toBe(Number.MAX_SAFE_INTEGER);
    expect(full?.members['writer']?.inputTokens).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('counts no nonsense', () => {
    const usage = { prompt_tokens: -5, completion_tokens: 1.5, cache_read_tokens: Number.NaN };
    expect(foldUsage(null, { member: 'w', model: 'm', usage })).toBeNull();
  });
});

describe('cost', () => {
  it('G162 is priced when asked, cached tokens at their own price', () => {
    const stored = foldUsage(null, {
      member: 'writer',
      model: 'm/one',
      usage: tokens(1_000_000, 0, 800_000),
    });
    const unpriced = priced(stored, () => undefined);
    expect(unpriced).not.toHaveProperty('costUsd');
    expect(unpriced).not.toHaveProperty('costPartial');
    expect(publicUsage(stored)?.inputTokens).toBe(1_000_000);
    const shown = priced(stored, () => ({ input: 10, output: 20, cacheRead: 1 }));
    expect(shown).toMatchObject({ costUsd: 2.8, costPartial: false });
    expect(shown?.members[0]?.costUsd).toBe(2.8);
    expect(priced(stored, () => ({ input: 10, output: 20 }))?.costUsd).toBe(10);
  });

  it('is partial when a member has no price', () => {
    const stored = foldUsage(fold([['a', 1_000_000, 0]], 'known'), {
      member: 'b',
      model: 'unknown',
      usage: tokens(10, 10),
    });
    const shown = priced(stored, (model) =>
      model === 'known' ? { input: 3, output: 1 } : undefined,
    );
    expect(shown).toMatchObject({ costUsd: 3, costPartial: true });
    expect(shown?.members[1]).not.toHaveProperty('costUsd');
  });

  it('rounds the sum of the unrounded', () => {
    const stored = fold([
      ['a', 4, 0],
      ['b', 4, 0],
      ['c', 4, 0],
    ]);
    const shown = priced(stored, () => ({ input: 0.1, output: 0 }));
    expect(shown?.members.map(({ costUsd }) => costUsd)).toEqual([0, 0, 0]);
    expect(shown?.costUsd).toBe(0.000001);
  });
});

describe('any usage', () => {
  const counter = fc.oneof(fc.nat(), fc.constantFrom(2 ** 52, Number.MAX_SAFE_INTEGER));
  const turn = fc.record({
    member: fc.nat({ max: 40 }).map((at) => `bot-${at}`),
    model: fc.constantFrom('known', 'free', 'unknown'),
    usage: fc.record({
      prompt_tokens: counter,
      completion_tokens: counter,
      cache_read_tokens: counter,
      cache_write_tokens: counter,
    }),
  });
  const priceOf: PriceOf = (model) =>
    model === 'known'
      ? { input: 1_000_000, output: 15, cacheRead: 0.3 }
      : model === 'free'
        ? { input: 0, output: 0 }
        : undefined;

  it('has whole counters, at most 24 rows, and a cost together with whether it is the whole', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 60 }), (turns) => {
        const stored = turns.reduce<StoredUsage | null>(foldUsage, null);
        const shown = priced(stored, priceOf);
        if (shown === null) return;
        expect(groupUsageSchema.strict().parse(JSON.parse(JSON.stringify(shown)))).toEqual(shown);
        expect(shown.members.length).toBeLessThanOrEqual(24);
        expect(shown.inputTokens).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
        expect('costUsd' in shown).toBe('costPartial' in shown);
        expect('costUsd' in shown).toBe(shown.members.some((row) => 'costUsd' in row));
      }),
    );
  });

  it('costs what its turns cost together, unrounded', () => {
    const small = fc.record({ input: fc.nat({ max: 1e6 }), cached: fc.nat({ max: 1e6 }) });
    fc.assert(
      fc.property(fc.array(small, { minLength: 1 }), (turns) => {
        const stored = turns.reduce<StoredUsage | null>(
          (before, { input, cached }) =>
            foldUsage(before, {
              member: 'writer',
              model: 'm',
              usage: tokens(input + cached, 7, cached),
            }),
          null,
        );
        const bill = turns.reduce(
          (sum, { input, cached }) => sum + input * 3e-6 + cached * 0.3e-6 + 7 * 15e-6,
          0,
        );
        const row = publicUsage(stored)?.members[0];
        if (!row) throw new Error('nothing was counted');
        const cost = memberCost(row, () => ({ input: 3, output: 15, cacheRead: 0.3 }));
        expect(Math.abs((cost ?? NaN) - bill)).toBeLessThan(1e-9);
      }),
    );
  });
});

describe('readUsage', () => {
  it('G165 reads what was stored', () => {
    const stored = fold([['writer', 1_234, 56]]);
    expect(readUsage(JSON.parse(JSON.stringify(stored)))).toEqual(stored);
  });

  it('reads anything, never with a fault', () => {
    const odd = fc.record(
      { turns: fc.jsonValue(), inputTokens: fc.jsonValue(), members: fc.jsonValue() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), odd), (stored) => {
        const shown = priced(readUsage(stored), () => ({ input: 1, output: 1 }));
        expect(shown === null || groupUsageSchema.safeParse(shown).success).toBe(true);
      }),
    );
  });
});
