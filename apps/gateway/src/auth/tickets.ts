import { randomBytes } from 'node:crypto';
import type { BusKeys, RedisClient } from '@flowly/bus';

export interface Ticket {
  ticket: string;
  ttlSeconds: number;
}

/** Tickets, each for one connection or one file, which any gateway honours (wire.md §1). */
export class Tickets {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly limits: { ticketMs: number; mediaTicketMs: number },
  ) {}

  issue(): Promise<Ticket> {
    return this.make((ticket) => this.keys.ticket(ticket), '1', this.limits.ticketMs);
  }

  /** A ticket for one file, good for any number of requests: a player asks for parts of it. */
  issueForMedia(mediaId: string): Promise<Ticket> {
    const { mediaTicketMs } = this.limits;
    return this.make((ticket) => this.keys.mediaTicket(ticket), mediaId, mediaTicketMs);
  }

  /** Uses a ticket up. Whether it was good. */
  async take(ticket: string): Promise<boolean> {
    return (await this.redis.getdel(this.keys.ticket(ticket))) !== null;
  }

  /** Whether a ticket is for this file. */
  async isForMedia(ticket: string, mediaId: string): Promise<boolean> {
    return (await this.redis.get(this.keys.mediaTicket(ticket))) === mediaId;
  }

  private async make(key: (ticket: string) => string, value: string, ms: number): Promise<Ticket> {
    const ticket = randomBytes(32).toString('base64url');
    await this.redis.set(key(ticket), value, 'PX', ms);
    return { ticket, ttlSeconds: Math.ceil(ms / 1_000) };
  }
}
