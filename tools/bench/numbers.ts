/** Milliseconds that half and 99 of 100 samples do not exceed. */
export interface Spread {
  p50: number;
  p99: number;
  samples: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  return { p50: atShare(sorted, 0.5), p99: atShare(sorted, 0.99), samples: sorted.length };
}

function atShare(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}
