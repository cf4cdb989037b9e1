import type { z } from 'zod';
import type { Reply, replyEntrySchema } from '@flowly/contract';
import type { RedisClient } from './connection';
import type { BusKeys } from './keys';
import type { LargeValues } from './large-values';
import { addReply } from './live-scripts';

/** Which events the caller must have seen before this answer. */
export type ReplyAfter =
  | { database: string } // the newest event of that database
  | { event: string } // that event
  | 'newest';

/** Puts answers onto the stream of the gateway that waits for them (design rule 2). */
export class Replies {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly large: LargeValues,
    private readonly limits: { replyStreamMs: number; replyStreamGoneMs: number },
  ) {}

  async send(gateway: string, reply: Reply, after: ReplyAfter): Promise<void> {
    const body = JSON.stringify(await this.packed(reply));
    const database = typeof after === 'object' && 'database' in after ? after.database : '';
    const event = typeof after === 'object' && 'event' in after ? after.event : '';
    await addReply.run(
      this.redis,
      [this.keys.replies(gateway), this.keys.relayed, this.keys.events],
      [
        body,
        database,
        event,
        Date.now() - this.limits.replyStreamMs,
        this.limits.replyStreamGoneMs,
        reply.command,
      ],
    );
  }

  /** A large result is put as the very text that clients get: a gateway need not read it. */
  private async packed(reply: Reply): Promise<z.input<typeof replyEntrySchema>> {
    const { outcome } = reply;
    if ('error' in outcome) return { body: reply };
    const largeResult = await this.large.put(JSON.stringify(outcome.result));
    return largeResult === null ? { body: reply } : { largeResult };
  }
}
