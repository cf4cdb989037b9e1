import type { Provider } from '@nestjs/common';
import { BusKeys, Queues, StreamTail, type RedisClient } from '@flowly/bus';
import { HeartbeatWriter } from '@flowly/service';
import { Entrance } from '../auth/entrance';
import { CallDesk } from '../calls/call-desk';
import { Commands } from '../calls/commands';
import { CredentialSeal } from '../calls/credential-seal';
import { Connections } from '../connections';
import { GroupFeeds } from '../fanout/group-feeds';
import { Position } from '../fanout/position';
import { StreamWatch } from '../fanout/stream-watch';
import { Metrics } from '../http/metrics';
import { Life } from '../life';
import type { GatewaySetup } from '../setup';
import { Claims } from '../sockets/claims';
import type { ClientSocket } from '../sockets/client-socket';
import { Door } from '../sockets/door';
import { Farewell } from '../sockets/farewell';
import { Heart } from '../sockets/heart';
import { SocketHost } from '../sockets/socket-host';
import { SocketRegistry } from '../sockets/socket-registry';
import { Topics } from '../sockets/topics';
import { FAST_REDIS, SETUP } from '../tokens';

/** Part of the time for stopping that clients get to close their side. */
const FAREWELL_SHARE = 0.25;

/** Sockets, their calls, and what runs by itself. */
export const socketProviders: Provider[] = [
  { provide: SocketRegistry, useFactory: () => new SocketRegistry() },
  { provide: Door, useFactory: (entrance: Entrance) => new Door(entrance), inject: [Entrance] },
  {
    provide: Claims,
    useFactory: ({ fast, subscriber, failed }: Connections, keys: BusKeys) =>
      new Claims(fast, subscriber, keys, failed),
    inject: [Connections, BusKeys],
  },
  {
    provide: Metrics,
    useFactory: (queues: Queues, sockets: SocketRegistry, commands: Commands) =>
      new Metrics(
        queues,
        () => sockets.size,
        () => commands.size,
      ),
    inject: [Queues, SocketRegistry, Commands],
  },
  {
    provide: CallDesk,
    useFactory: (
      { hostId, log, config }: GatewaySetup,
      commands: Commands,
      redis: RedisClient,
      keys: BusKeys,
      position: Position,
      groups: GroupFeeds,
      metrics: Metrics,
    ) =>
      new CallDesk(
        hostId,
        commands,
        new CredentialSeal(redis, keys),
        position,
        groups,
        config.limits,
        {
          ended: (method, outcome) => metrics.countCall(method, outcome),
          failed: (err) => log.error({ err }, 'a call failed'),
        },
      ),
    inject: [SETUP, Commands, FAST_REDIS, BusKeys, Position, GroupFeeds, Metrics],
  },
  {
    provide: SocketHost,
    useFactory: (
      door: Door,
      registry: SocketRegistry,
      claims: Claims,
      topics: Topics<ClientSocket>,
      calls: CallDesk,
      { config }: GatewaySetup,
    ) => new SocketHost(door, registry, claims, topics, calls, config.limits),
    inject: [Door, SocketRegistry, Claims, Topics, CallDesk, SETUP],
  },
  {
    provide: Heart,
    useFactory: (sockets: SocketRegistry, { config }: GatewaySetup) =>
      new Heart(sockets, config.limits),
    inject: [SocketRegistry, SETUP],
  },
  {
    provide: HeartbeatWriter,
    useFactory: (
      { fast, failed }: Connections,
      keys: BusKeys,
      { config }: GatewaySetup,
      sockets: SocketRegistry,
    ) =>
      new HeartbeatWriter(
        fast,
        keys,
        'gateway',
        config.limits,
        () => ({ sockets: sockets.size }),
        failed,
      ),
    inject: [Connections, BusKeys, SETUP, SocketRegistry],
  },
  {
    provide: Farewell,
    useFactory: (door: Door, registry: SocketRegistry, { config }: GatewaySetup) =>
      new Farewell(door, registry, config.limits.shutdownMs * FAREWELL_SHARE),
    inject: [Door, SocketRegistry, SETUP],
  },
  {
    provide: Life,
    useFactory: (...parts: ConstructorParameters<typeof Life>) => new Life(...parts),
    inject: [
      Connections,
      Queues,
      StreamTail,
      Position,
      StreamWatch,
      Claims,
      Heart,
      HeartbeatWriter,
      Metrics,
      Farewell,
    ],
  },
];
