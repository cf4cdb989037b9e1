import type { Redis } from 'ioredis';

/** Every key with everything under it, each as one text. */
export async function everythingIn(redis: Redis): Promise<string[]> {
  const keys = await redis.keys('*');
  return Promise.all(
    keys.map(async (key) => `${key} ${JSON.stringify(await valueOf(redis, key))}`),
  );
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'stream':
      return redis.xrange(key, '-', '+');
    case 'none':
      return null; // it has expired meanwhile
    default:
      throw new Error(`a Redis type nobody expects: ${type}`);
  }
}
