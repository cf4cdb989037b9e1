import { z } from 'zod';
import { readinessSchema, type Readiness } from '@flowly/contract';
import type { RedisClient } from './connection';
import type { BusKeys } from './keys';

/** What a pipeline of HGETALL answers; an error in place of null is none. */
const hashesSchema = z.array(z.tuple([z.null(), z.record(z.string(), z.string())]));

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

/** `readReadiness` of many groups at once, in their order. */
export async function readReadinessOfAll(
  redis: RedisClient,
  keys: BusKeys,
  groups: readonly { id: string; members: string[] }[],
): Promise<Record<string, Readiness>[]> {
  const pipeline = redis.pipeline();
  for (const { id } of groups) pipeline.hgetall(keys.readiness(id));
  const answers = hashesSchema.parse(await pipeline.exec());
  return groups.map(({ members }, index) => readinessOf(members, answers[index]?.[1] ?? {}));
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
