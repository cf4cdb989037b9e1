import { defaultLimits } from '@flowly/contract';
import { startRedis, type TestRedis } from '@flowly/testing';
import { connectRedis, type RedisClient } from './connection';
import { BusKeys } from './keys';
import { StreamTail, type ReplyEntry, type StreamEntry } from './tail';

/** A Redis of its own with what most tests of the bus need. */
export interface TestBus {
  server: TestRedis;
  redis: RedisClient;
  keys: BusKeys;
  /** Everything a tail has handed on, in order. */
  tail(gateway?: string): Promise<RecordedTail>;
  stop(): Promise<void>;
}

export interface RecordedTail {
  tail: StreamTail;
  events: StreamEntry[];
  replies: ReplyEntry[];
}

export const limits = defaultLimits;

export async function startBus(): Promise<TestBus> {
  const server = await startRedis();
  const redis = connectRedis(server.url, 'test');
  redis.on('error', () => undefined);
  const keys = new BusKeys('host-1');
  const tails: StreamTail[] = [];
  return {
    server,
    redis,
    keys,
    async tail(gateway = 'gateway-1') {
      const events: StreamEntry[] = [];
      const replies: ReplyEntry[] = [];
      const connection = connectRedis(server.url, 'tail');
      connection.on('error', () => undefined);
      const tail = new StreamTail(connection, keys, gateway, {
        onEvent: (entry) => events.push(entry),
        onReply: (entry) => replies.push(entry),
        onError: () => undefined,
      });
      tails.push(tail);
      await tail.start();
      return { tail, events, replies };
    },
    async stop() {
      for (const tail of tails) tail.stop();
      redis.disconnect();
      await server.stop();
    },
  };
}

/** Waits until the condition holds; fails after ten seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error('The condition did not come true within ten seconds.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
