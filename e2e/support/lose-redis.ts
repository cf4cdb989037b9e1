import { Redis } from 'ioredis';
import type { Client, System } from '@flowly/testing';

/**
 * Takes everything from Redis, and waits until the gateway has noticed: it closes the sockets of this client and of
 * everybody who connects before.
 */
export async function loseRedis({ redis }: System, client: Client): Promise<void> {
  const connection = new Redis(redis.url);
  await connection.flushall();
  connection.disconnect();
  expect((await client.closed).code).toBe(1012);
}
