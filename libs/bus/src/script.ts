import { createHash } from 'node:crypto';
import type { RedisClient } from './connection';

/** A Lua script called by its hash and sent whole only when the server does not have it. */
export class Script {
  private readonly sha: string;

  constructor(private readonly source: string) {
    this.sha = createHash('sha1').update(source).digest('hex');
  }

  async run(redis: RedisClient, keys: string[], args: (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.sha, keys.length, ...keys, ...args);
    } catch (error) {
      // NOSCRIPT is the protocol's error code: the first word of an error reply.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT ')) throw error;
      return redis.eval(this.source, keys.length, ...keys, ...args);
    }
  }
}
