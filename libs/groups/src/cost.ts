import type { GroupUsage } from '@flowly/contract';

/** Price of a model's tokens in USD per million; cached input costs like other input if not said. */
export interface Price {
  input: number;
  output: number;
  cacheRead?: number;
}

/** The price of a model, undefined if nobody knows it. */
export type PriceOf = (model: string) => Price | undefined;

type Priceable = Pick<
  GroupUsage['members'][number],
  'model' | 'inputTokens' | 'outputTokens' | 'cacheReadTokens'
>;

const counters = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

/** A usage with what it costs at today's prices (groups.md §8): rounded sums of unrounded costs. */
export function withCost(usage: GroupUsage, priceOf: PriceOf): GroupUsage {
  const costs = usage.members.map((row) => memberCost(row, priceOf));
  const members = usage.members.map((row, at) => {
    const cost = costs[at] ?? null;
    return cost === null ? row : { ...row, costUsd: roundUsd(cost) };
  });
  const priced = costs.filter((cost) => cost !== null);
  if (priced.length === 0) return usage;
  return {
    ...usage,
    members,
    costUsd: roundUsd(priced.reduce((total, cost) => total + cost, 0)),
    costPartial: priced.length < members.length || hasTokensWithoutRow(usage),
  };
}

/** What a row's tokens cost in USD, unrounded; null where the price is unknown. Cache writes cost like other input. */
export function memberCost(row: Priceable, priceOf: PriceOf): number | null {
  const price = priceOf(row.model);
  if (price === undefined) return null;
  const cached = Math.min(row.cacheReadTokens, row.inputTokens);
  const perMillion =
    (row.inputTokens - cached) * price.input +
    cached * (price.cacheRead ?? price.input) +
    row.outputTokens * price.output;
  return perMillion / 1e6;
}

/** To the 6 decimals that are shown. */
function roundUsd(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

function hasTokensWithoutRow(usage: GroupUsage): boolean {
  return counters.some(
    (counter) => usage[counter] > usage.members.reduce((sum, row) => sum + row[counter], 0),
  );
}
