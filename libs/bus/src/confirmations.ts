import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { RedisClient } from './connection';
import type { BusKeys } from './keys';
import { Script } from './script';

/**
 * Gives a confirmation to the first attempt that names it. KEYS confirmation. ARGV attempt, ms for which the attempt
 * may come again. Returns the bot it is for, or nil for any other attempt.
 */
const take = new Script(`
local botId = redis.call('HGET', KEYS[1], 'botId')
if not botId then return nil end
if redis.call('HSETNX', KEYS[1], 'attempt', ARGV[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if redis.call('HGET', KEYS[1], 'attempt') ~= ARGV[1] then return nil end
return botId
`);

/** Confirmations of deletions: each for one bot and one attempt, honoured by every runner (bots.md §2). */
export class Confirmations {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly limits: { confirmationMs: number },
  ) {}

  async issue(botId: string): Promise<{ confirmation: string; expiresInSeconds: number }> {
    const confirmation = randomBytes(32).toString('base64url');
    const key = this.keys.confirmation(confirmation);
    const { confirmationMs } = this.limits;
    await this.redis.multi().hset(key, 'botId', botId).pexpire(key, confirmationMs).exec();
    return { confirmation, expiresInSeconds: Math.ceil(confirmationMs / 1_000) };
  }

  /**
   * Uses a confirmation up. The same attempt has it again when it is delivered twice.
   * @param attempt id of the command
   * @returns the bot it is for; null when it is unknown, expired or was used by another attempt
   */
  async take(confirmation: string, attempt: string): Promise<string | null> {
    const args = [attempt, this.limits.confirmationMs];
    const botId = await take.run(this.redis, [this.keys.confirmation(confirmation)], args);
    return z.string().nullable().parse(botId);
  }
}
