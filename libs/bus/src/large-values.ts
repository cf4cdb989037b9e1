import { randomUUID } from 'node:crypto';
import type { Envelope } from '@flowly/contract';
import type { RedisClient } from './connection';
import type { BusKeys } from './keys';

/**
 * Bodies too large for a job or a stream entry travel as a value of their own, which goes by itself
 * (design rule 2).
 */
export class LargeValues {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly limits: { inlineBytes: number; largeValueMs: number },
  ) {}

  /** Wraps a body: itself when it is small, else the key it was put under. */
  async pack(body: unknown): Promise<Envelope> {
    const large = await this.put(JSON.stringify(body));
    return large === null ? { body } : { large };
  }

  /** Puts a text under a key of its own; null, and nothing is put, when it is small. */
  async put(text: string): Promise<string | null> {
    if (Buffer.byteLength(text) <= this.limits.inlineBytes) return null;
    const id = randomUUID();
    await this.redis.set(this.keys.large(id), text, 'PX', this.limits.largeValueMs);
    return id;
  }

  /** Bytes that wait under a key; 0 when they are gone. */
  bytes(id: string): Promise<number> {
    return this.redis.strlen(this.keys.large(id));
  }

  /** The text under a key; null when it is gone. */
  text(id: string): Promise<string | null> {
    return this.redis.get(this.keys.large(id));
  }

  /** The body in an envelope; null when its value is gone. */
  async unpack(envelope: Envelope): Promise<{ body: unknown } | null> {
    if (!('large' in envelope)) return { body: envelope.body };
    const json = await this.text(envelope.large);
    return json === null ? null : { body: JSON.parse(json) };
  }
}
