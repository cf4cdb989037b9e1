import { once } from 'node:events';
import { connectFailFast, connectRedis, type RedisClient } from '@flowly/bus';
import type { Log } from '@flowly/service';

/** The gateway's connections to Redis. An outage is told once, and its end. */
export class Connections {
  /** For whatever must be answered in time: fails at once while Redis is away. */
  readonly fast: RedisClient;
  /** Blocks on the streams. */
  readonly tail: RedisClient;
  /** Listens to what gateways tell each other. */
  readonly subscriber: RedisClient;
  private isAway = false;

  constructor(
    redisUrl: string,
    private readonly log: Log,
  ) {
    this.fast = connectFailFast(redisUrl, 'gateway');
    this.tail = connectRedis(redisUrl, 'gateway-tail');
    this.subscriber = connectRedis(redisUrl, 'gateway-subscriber');
    for (const redis of [this.fast, this.tail, this.subscriber]) redis.on('error', this.failed);
    this.fast.on('ready', () => this.isBack());
  }

  async ready(): Promise<void> {
    if (this.fast.status !== 'ready') await once(this.fast, 'ready');
  }

  readonly failed = (error: unknown): void => {
    if (!this.isAway) this.log.warn({ err: error }, 'Redis does not answer');
    this.isAway = true;
  };

  /** Ends what the tail, which ends its own connection, does not. */
  close(): void {
    this.fast.disconnect();
    this.subscriber.disconnect();
  }

  private isBack(): void {
    if (this.isAway) this.log.info('Redis answers again');
    this.isAway = false;
  }
}
