import { isObject, wellFormed } from '@flowly/contract';
import { nameMap } from '@flowly/groups';
import { canonicalJson } from '../core/canonical-json';

/** A value as a JSON column holds it: canonical, and without lone surrogates, which other readers refuse. */
export function storedJson(value: unknown): string {
  return canonicalJson(mended(value));
}

/** The value of a JSON column; undefined if there is none or it is no JSON. */
export function parseStored(json: string | null): unknown {
  if (json === null) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(mended);
  if (!isObject(value)) return value;
  return nameMap(Object.entries(value).map(([key, member]) => [wellFormed(key), mended(member)]));
}
