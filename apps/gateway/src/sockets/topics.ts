/** Who wants to hear of what: topics and their members, found from both sides. */
export class Topics<M extends object> {
  private readonly members = new Map<string, Set<M>>();
  private readonly joined = new Map<M, Set<string>>();

  join(topic: string, member: M): void {
    setOf(this.members, topic).add(member);
    setOf(this.joined, member).add(topic);
  }

  leave(topic: string, member: M): void {
    removeFrom(this.members, topic, member);
    removeFrom(this.joined, member, topic);
  }

  leaveAll(member: M): void {
    for (const topic of this.joined.get(member) ?? []) removeFrom(this.members, topic, member);
    this.joined.delete(member);
  }

  of(topic: string): ReadonlySet<M> {
    return this.members.get(topic) ?? new Set();
  }
}

function setOf<K, V>(map: Map<K, Set<V>>, key: K): Set<V> {
  const found = map.get(key);
  if (found) return found;
  const made = new Set<V>();
  map.set(key, made);
  return made;
}

function removeFrom<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const set = map.get(key);
  set?.delete(value);
  if (set?.size === 0) map.delete(key);
}
