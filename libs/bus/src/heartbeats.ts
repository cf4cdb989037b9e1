import { z } from 'zod';
import type { RedisClient } from './connection';
import type { BusKeys } from './keys';

const heartbeatSchema = z.object({
  service: z.string(),
  instance: z.string(),
  /** Unix ms. */
  at: z.number(),
  figures: z.record(z.string(), z.number()),
  /** What keeps the worker from its work although it lives. The message is for a reader: no path, no secret. */
  fault: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type Heartbeat = z.infer<typeof heartbeatSchema>;
export type WorkerFault = NonNullable<Heartbeat['fault']>;

/** Workers have no port: they say in Redis that they live, with their figures (design rule 8). */
export async function writeHeartbeat(
  redis: RedisClient,
  keys: BusKeys,
  heartbeat: Heartbeat,
  goneMs: number,
): Promise<void> {
  const key = keys.heartbeat(heartbeat.service, heartbeat.instance);
  await redis
    .multi()
    .set(key, JSON.stringify(heartbeat), 'PX', goneMs)
    .sadd(keys.heartbeats(), key)
    .exec();
}

/** Heartbeats that have not gone; names of those that have are forgotten on the way. */
export async function readHeartbeats(redis: RedisClient, keys: BusKeys): Promise<Heartbeat[]> {
  const names = await redis.smembers(keys.heartbeats());
  if (names.length === 0) return [];
  const values = await redis.mget(names);
  const gone = names.filter((_, index) => values[index] === null);
  if (gone.length > 0) await redis.srem(keys.heartbeats(), gone);
  return values.flatMap((value) => (value ? [heartbeatSchema.parse(JSON.parse(value))] : []));
}

/** Takes a heartbeat away at an orderly end, so that nobody counts on this worker any more. */
export async function removeHeartbeat(
  redis: RedisClient,
  keys: BusKeys,
  service: string,
  instance: string,
): Promise<void> {
  await redis.del(keys.heartbeat(service, instance));
}
