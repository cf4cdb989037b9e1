import type { Spread } from './numbers';

/** One line of the result. */
export interface Row {
  measure: string;
  /** What the floor took, measured in the same run. */
  floor: Spread | null;
  ours: Spread;
  /** Bounds in ms, of p50 over the floor's where `overFloor` says so; null: there is none. */
  target: { p50: number; p99?: number; overFloor?: true } | null;
}

/** Whether a line reaches its target; null without one. */
export function reaches({ floor, ours, target }: Row): boolean | null {
  if (target === null) return null;
  const base = target.overFloor && floor ? floor.p50 : 0;
  return ours.p50 - base <= target.p50 && ours.p99 <= (target.p99 ?? Infinity);
}
