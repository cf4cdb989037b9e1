import type { Limits } from '@flowly/contract';
import { Confirmations } from './confirmations';
import { connectRedis, type RedisClient } from './connection';
import { BusKeys } from './keys';
import { LargeValues } from './large-values';
import { LiveRecords } from './live-record';
import { EventPublisher } from './publisher';
import { Queues } from './queues';
import { Replies } from './replies';

export interface BusSettings {
  redisUrl: string;
  hostId: string;
  /** Name of the connections, as Redis shows them. */
  name: string;
  limits: Limits;
  onError: (error: unknown) => void;
}

/** Everything a worker says through Redis, over one connection and one set of queues. */
export class Bus {
  readonly keys: BusKeys;
  readonly redis: RedisClient;
  readonly queues: Queues;
  readonly large: LargeValues;
  readonly replies: Replies;
  readonly publisher: EventPublisher;
  readonly live: LiveRecords;
  readonly confirmations: Confirmations;

  constructor({ redisUrl, hostId, name, limits, onError }: BusSettings) {
    this.keys = new BusKeys(hostId);
    this.redis = connectRedis(redisUrl, name);
    this.redis.on('error', onError);
    this.queues = new Queues(redisUrl, this.keys, false);
    this.queues.onError(onError);
    this.large = new LargeValues(this.redis, this.keys, limits);
    this.replies = new Replies(this.redis, this.keys, this.large, limits);
    this.publisher = new EventPublisher(this.redis, this.keys);
    this.live = new LiveRecords(this.redis, this.keys, limits.freezeMs);
    this.confirmations = new Confirmations(this.redis, this.keys, limits);
  }

  async close(): Promise<void> {
    await this.queues.close();
    this.redis.disconnect();
  }
}
