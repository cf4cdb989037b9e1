import { randomUUID } from 'node:crypto';
import type { Provider } from '@nestjs/common';
import { BusKeys, LargeValues, LiveRecords, Queues, type RedisClient } from '@flowly/bus';
import { Commands } from '../calls/commands';
import { Connections } from '../connections';
import type { GatewaySetup } from '../setup';
import { FAST_REDIS, GATEWAY_ID, SETUP } from '../tokens';

/** What goes to Redis and to the workers. */
export const busProviders: Provider[] = [
  { provide: GATEWAY_ID, useFactory: randomUUID },
  {
    provide: BusKeys,
    useFactory: ({ hostId }: GatewaySetup) => new BusKeys(hostId),
    inject: [SETUP],
  },
  {
    provide: Connections,
    useFactory: ({ config, log }: GatewaySetup) => new Connections(config.redisUrl, log),
    inject: [SETUP],
  },
  { provide: FAST_REDIS, useFactory: ({ fast }: Connections) => fast, inject: [Connections] },
  {
    provide: Queues,
    useFactory: ({ config }: GatewaySetup, keys: BusKeys, connections: Connections) => {
      const queues = new Queues(config.redisUrl, keys, true);
      queues.onError(connections.failed);
      return queues;
    },
    inject: [SETUP, BusKeys, Connections],
  },
  {
    provide: LargeValues,
    useFactory: ({ config }: GatewaySetup, redis: RedisClient, keys: BusKeys) =>
      new LargeValues(redis, keys, config.limits),
    inject: [SETUP, FAST_REDIS, BusKeys],
  },
  {
    provide: LiveRecords,
    useFactory: ({ config }: GatewaySetup, redis: RedisClient, keys: BusKeys) =>
      new LiveRecords(redis, keys, config.limits.freezeMs),
    inject: [SETUP, FAST_REDIS, BusKeys],
  },
  {
    provide: Commands,
    useFactory: (gateway: string, queues: Queues, large: LargeValues, { config }: GatewaySetup) =>
      new Commands(gateway, queues, large, config.limits),
    inject: [GATEWAY_ID, Queues, LargeValues, SETUP],
  },
];
