import { readinessSchema, type Readiness } from '@flowly/contract';
import type { RedisClient } from './connection';
import type { BusKeys } from './keys';

const IDLE: Readiness = { state: 'idle', updatedAt: '', error: '' };

/** Whether each member of a group can be used; lives in Redis, missing means `idle` (design rule 4). */
export async function readReadiness(
  redis: RedisClient,
  keys: BusKeys,
  groupId: string,
  members: string[],
): Promise<Record<string, Readiness>> {
  return readinessOf(members, await redis.hgetall(keys.readiness(groupId)));
}

/** Every member's readiness, from the hash as it stands in Redis. */
export function readinessOf(
  members: string[],
  stored: Record<string, string>,
): Record<string, Readiness> {
  const readiness: Record<string, Readiness> = Object.create(null);
  for (const member of members) {
    const raw = stored[member];
    readiness[member] = raw === undefined ? { ...IDLE } : readinessSchema.parse(JSON.parse(raw));
  }
  return readiness;
}
