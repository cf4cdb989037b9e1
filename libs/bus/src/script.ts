import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { RedisClient } from './connection';

/** NOSCRIPT is the protocol's error code: the first word of an error reply. */
const noScriptSchema = z.object({ message: z.string().startsWith('NOSCRIPT ') });

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
      if (!noScriptSchema.safeParse(error).success) throw error;
      return redis.eval(this.source, keys.length, ...keys, ...args);
    }
  }
}
