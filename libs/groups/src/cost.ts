/** Price of a model's tokens in USD per million; cached input costs like other input if not said. */
export interface Price {
  input: number;
  output: number;
  cacheRead?: number;
}

/** The price of a model, undefined if nobody knows it. */
export type PriceOf = (model: string) => Price | undefined;

interface Priceable {
  model: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
}

/** What each row costs in USD, unrounded; null where the price is unknown. */
export function memberCosts(
  rows: readonly Priceable[],
  priceOf: PriceOf | undefined,
): (number | null)[] {
  return rows.map((row) => {
    const price = priceOf?.(row.model);
    return price === undefined ? null : costOf(row, price);
  });
}

/** Rounded to the 6 decimals that are shown. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

/** Cache writes are part of the input and cost its price (groups.md §8). */
function costOf(row: Priceable, price: Price): number {
  const cached = Math.min(row.cacheReadTokens, row.inputTokens);
  const perMillion =
    (row.inputTokens - cached) * price.input +
    cached * (price.cacheRead ?? price.input) +
    row.outputTokens * price.output;
  return perMillion / 1e6;
}
