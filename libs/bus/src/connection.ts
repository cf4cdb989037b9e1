import { Redis } from 'ioredis';

export type RedisClient = Redis;

/** A client that keeps trying to reconnect; commands wait for it. */
export function connectRedis(url: string, name: string): RedisClient {
  return new Redis(url, {
    connectionName: name,
    maxRetriesPerRequest: null,
    retryStrategy: reconnectDelay,
  });
}

/** A client whose commands fail at once while Redis is away, for callers that must answer in time. */
export function connectFailFast(url: string, name: string): RedisClient {
  return new Redis(url, {
    connectionName: name,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 5_000,
    retryStrategy: reconnectDelay,
  });
}

function reconnectDelay(attempt: number): number {
  return Math.min(50 * attempt, 1_000);
}
