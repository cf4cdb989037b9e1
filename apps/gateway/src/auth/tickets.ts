import { randomBytes } from 'node:crypto';
import type { BusKeys, RedisClient } from '@flowly/bus';

/** Tickets for one connection each, which any gateway honours (wire.md §1). */
export class Tickets {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly ticketMs: number,
  ) {}

  async issue(): Promise<{ ticket: string; ttlSeconds: number }> {
    const ticket = randomBytes(32).toString('base64url');
    await this.redis.set(this.keys.ticket(ticket), '1', 'PX', this.ticketMs);
    return { ticket, ttlSeconds: Math.ceil(this.ticketMs / 1_000) };
  }

  /** Uses a ticket up. Whether it was good. */
  async take(ticket: string): Promise<boolean> {
    return (await this.redis.getdel(this.keys.ticket(ticket))) !== null;
  }
}
