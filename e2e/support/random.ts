/** The seed of this run: `E2E_SEED`, or one made from the clock. */
export function seedOfThisRun(): number {
  const given = Number(process.env['E2E_SEED']);
  return Number.isInteger(given) && given > 0 ? given : Date.now() % 1_000_000;
}

/** Numbers in [0, 1) that a seed decides (mulberry32). */
export function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
