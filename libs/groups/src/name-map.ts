/** A map of names without a prototype, so that no name meets an inherited property (groups.md, head). */
export function nameMap<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const map: Record<string, T> = Object.create(null);
  for (const [name, value] of entries) map[name] = value;
  return map;
}
