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
    const json = JSON.stringify(body);
    if (Buffer.byteLength(json) <= this.limits.inlineBytes) return { body };
    const id = randomUUID();
    await this.redis.set(this.keys.large(id), json, 'PX', this.limits.largeValueMs);
    return { large: id };
  }

  /** Bytes that wait under the envelope's key; 0 for a body that is in it. */
  async waitingBytes(envelope: Envelope): Promise<number> {
    return 'large' in envelope ? this.redis.strlen(this.keys.large(envelope.large)) : 0;
  }

  /** The body in an envelope; null when its value is gone. */
  async unpack(envelope: Envelope): Promise<{ body: unknown } | null> {
    if (!('large' in envelope)) return { body: envelope.body };
    const json = await this.redis.get(this.keys.large(envelope.large));
    return json === null ? null : { body: JSON.parse(json) };
  }
}
