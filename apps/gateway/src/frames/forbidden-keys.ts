const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether an object somewhere in a parsed JSON value has a key that could reach a prototype (wire.md §6). */
export function holdsForbiddenKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsForbiddenKey);
  return Object.entries(value).some(
    ([key, inner]) => FORBIDDEN.has(key) || holdsForbiddenKey(inner),
  );
}
