import type { Spread } from './numbers';

/** Bounds in ms, of p50 over the floor's where `overFloor` says so; or of p50 as a multiple of the floor's. */
export type Target =
  | { p50: number; p99?: number; overFloor?: true; timesFloor?: never }
  | { timesFloor: number };

/** One line of the result. */
export interface Row {
  measure: string;
  /** What the floor took, measured in the same run. */
  floor: Spread | null;
  ours: Spread;
  /** null: there is none. */
  target: Target | null;
}

/** Whether a line reaches its target; null without one. */
export function reaches({ floor, ours, target }: Row): boolean | null {
  if (target === null) return null;
  if (target.timesFloor !== undefined) return ours.p50 <= (floor?.p50 ?? 0) * target.timesFloor;
  const base = target.overFloor && floor ? floor.p50 : 0;
  return ours.p50 - base <= target.p50 && ours.p99 <= (target.p99 ?? Infinity);
}
