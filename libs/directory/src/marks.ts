import type { Bot } from './directory';

const MAX_SEED = 1_000_000;

/** The seed of a new bot's mark: highest + 1, so that none is ever renumbered; past the end a free one. */
export function nextMarkSeed(bots: readonly Bot[]): number {
  const taken = new Set(bots.flatMap((bot) => bot.profile.markSeed ?? []));
  const next = Math.max(-1, ...taken) + 1;
  if (next <= MAX_SEED) return next;
  for (let seed = 0; ; seed++) if (!taken.has(seed)) return seed;
}
