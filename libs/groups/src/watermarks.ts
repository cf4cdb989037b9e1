import { isObject } from '@flowly/contract';
import { nameMap } from './name-map';

/** Member → how many messages of the live window it has been given: an index into the window. */
export type Watermarks = Record<string, number>;

/** Reads `watermarks_json`: whatever is not an index into the window reads as 0 (nothing given yet). */
export function readWatermarks(members: readonly string[], stored: unknown): Watermarks {
  const given = isObject(stored) ? stored : {};
  return nameMap(
    members.map((name) => [name, Object.hasOwn(given, name) ? index(given[name]) : 0]),
  );
}

/** When n messages leave the window, every watermark moves with it. */
export function shiftWatermarks(watermarks: Readonly<Watermarks>, trimmed: number): Watermarks {
  return nameMap(
    Object.entries(watermarks).map(([name, mark]) => [name, Math.max(0, mark - trimmed)]),
  );
}

/** The member has been given everything before the boundary; a watermark never moves back. */
export function moveWatermark(
  watermarks: Readonly<Watermarks>,
  member: string,
  boundary: number,
): Watermarks {
  const from = Object.hasOwn(watermarks, member) ? (watermarks[member] ?? 0) : 0;
  return nameMap([...Object.entries(watermarks), [member, Math.max(from, boundary)]]);
}

function index(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
