import { isObject } from '@flowly/contract';
import { nameMap } from './name-map';
import { type StoredRun, storedRunSchema } from './run';

/**
 * Reads `run_json`, also as other programs wrote it (store.md §1): a run member that is no member of the
 * group is ignored, an optional field that is null is absent, a run of another shape reads as null.
 */
export function readStoredRun(stored: unknown, members: readonly string[]): StoredRun | null {
  if (!isObject(stored) || !isObject(stored['members'])) return null;
  const entries = Object.entries(stored['members'])
    .filter(([name]) => members.includes(name))
    .map(([name, entry]) => [name, withoutNulls(entry)] as const);
  const parsed = storedRunSchema.safeParse({ ...stored, members: Object.fromEntries(entries) });
  if (!parsed.success) return null;
  return { ...parsed.data, members: nameMap(Object.entries(parsed.data.members)) };
}

function withoutNulls(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
}
