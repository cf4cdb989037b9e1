import type { Provider } from '@nestjs/common';
import { BusKeys, type RedisClient } from '@flowly/bus';
import { isAuthOn } from '../auth/credentials';
import { Entrance } from '../auth/entrance';
import { LockOut } from '../auth/lock-out';
import { TrustedProxies } from '../auth/peer';
import { Tickets } from '../auth/tickets';
import { MediaFolder } from '../media/media-folder';
import { runtimeOwner } from '../http/runtime-owner';
import type { GatewaySetup } from '../setup';
import { FAST_REDIS, HEALTH_FACTS, SETUP } from '../tokens';

/** Who may come in. */
export const entranceProviders: Provider[] = [
  {
    provide: Tickets,
    useFactory: ({ config }: GatewaySetup, redis: RedisClient, keys: BusKeys) =>
      new Tickets(redis, keys, config.limits),
    inject: [SETUP, FAST_REDIS, BusKeys],
  },
  {
    provide: LockOut,
    useFactory: ({ config }: GatewaySetup, redis: RedisClient, keys: BusKeys) =>
      new LockOut(redis, keys, config.limits),
    inject: [SETUP, FAST_REDIS, BusKeys],
  },
  {
    provide: Entrance,
    useFactory: ({ config, token }: GatewaySetup, tickets: Tickets, lockOut: LockOut) => {
      const { gatewayHost: host, requireLoopbackAuth, allowedOrigins } = config;
      const rule = { authOn: isAuthOn({ host, token, requireLoopbackAuth }), allowedOrigins };
      return new Entrance(rule, token, new TrustedProxies(config.trustedProxies), tickets, lockOut);
    },
    inject: [SETUP, Tickets, LockOut],
  },
  {
    provide: MediaFolder,
    useFactory: ({ config }: GatewaySetup) => new MediaFolder(config.home),
    inject: [SETUP],
  },
  {
    provide: HEALTH_FACTS,
    useFactory: ({ version, config }: GatewaySetup, { authOn }: Entrance) => ({
      version,
      runtimeOwner: runtimeOwner(config, process.execPath),
      authOn,
    }),
    inject: [SETUP, Entrance],
  },
];
