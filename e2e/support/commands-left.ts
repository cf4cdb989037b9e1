import type { TestRedis } from '@flowly/testing';
import { Redis } from 'ioredis';

/** Calls for groups that wait for a worker or that one has, be it alive or dead. */
export async function commandsLeft({ url }: Pick<TestRedis, 'url'>): Promise<number> {
  const redis = new Redis(url);
  try {
    const lists = [
      ...(await redis.keys('*:group-commands:wait')),
      ...(await redis.keys('*:group-commands:active')),
    ];
    const lengths = await Promise.all(lists.map((list) => redis.llen(list)));
    return lengths.reduce((sum, length) => sum + length, 0);
  } finally {
    redis.disconnect();
  }
}
