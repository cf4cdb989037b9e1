import type { Provider } from '@nestjs/common';
import { BusKeys, LiveRecords, StreamTail, type RedisClient } from '@flowly/bus';
import { Commands } from '../calls/commands';
import { Connections } from '../connections';
import { BotFeed } from '../fanout/bot-feed';
import { Fanout } from '../fanout/fanout';
import { GroupAudience } from '../fanout/group-audience';
import { GroupFeeds } from '../fanout/group-feeds';
import { GroupSource } from '../fanout/group-source';
import { Position } from '../fanout/position';
import { StreamWatch } from '../fanout/stream-watch';
import type { GatewaySetup } from '../setup';
import { closeCode, type ClientSocket } from '../sockets/client-socket';
import { SocketRegistry } from '../sockets/socket-registry';
import { Topics } from '../sockets/topics';
import { FAST_REDIS, GATEWAY_ID, SETUP } from '../tokens';

/** The way of events from the stream to the sockets. */
export const fanoutProviders: Provider[] = [
  { provide: Topics, useFactory: () => new Topics<ClientSocket>() },
  { provide: Position, useFactory: () => new Position() },
  {
    provide: BotFeed,
    useFactory: (topics: Topics<ClientSocket>, { hostId }: GatewaySetup) =>
      new BotFeed(topics, hostId),
    inject: [Topics, SETUP],
  },
  {
    provide: GroupFeeds,
    useFactory: (
      topics: Topics<ClientSocket>,
      commands: Commands,
      live: LiveRecords,
      { hostId, config, log }: GatewaySetup,
    ) => {
      const source = new GroupSource(commands, live, (err) =>
        log.warn({ err }, 'a group could not be read'),
      );
      return new GroupFeeds(new GroupAudience(topics, hostId), source, config.limits.patchMs);
    },
    inject: [Topics, Commands, LiveRecords, SETUP],
  },
  {
    provide: Fanout,
    useFactory: (position: Position, bots: BotFeed, groups: GroupFeeds, { log }: GatewaySetup) =>
      new Fanout(position, bots, groups, (err) =>
        log.error({ err }, 'an event could not be shown'),
      ),
    inject: [Position, BotFeed, GroupFeeds, SETUP],
  },
  {
    provide: StreamTail,
    useFactory: (
      { tail, failed }: Connections,
      keys: BusKeys,
      gateway: string,
      fanout: Fanout,
      commands: Commands,
      { log }: GatewaySetup,
    ) =>
      new StreamTail(tail, keys, gateway, {
        onEvent: (entry) => fanout.handle(entry),
        onReply: (entry) => {
          commands
            .settle(entry)
            .catch((err: unknown) => log.error({ err }, 'an answer could not be read'));
        },
        onError: failed,
      }),
    inject: [Connections, BusKeys, GATEWAY_ID, Fanout, Commands, SETUP],
  },
  {
    provide: StreamWatch,
    useFactory: (
      redis: RedisClient,
      keys: BusKeys,
      { config, log }: GatewaySetup,
      position: Position,
      bots: BotFeed,
      groups: GroupFeeds,
      sockets: SocketRegistry,
    ) => {
      const lost = () => {
        log.warn('events were lost: all clients read their state afresh');
        bots.reset();
        groups.reset();
        position.giveUp();
        sockets.closeAll(closeCode.serviceRestart);
      };
      const failed = (err: unknown) =>
        log.warn({ err }, 'the event stream could not be looked after');
      return new StreamWatch(redis, keys, config.limits, position, lost, failed);
    },
    inject: [FAST_REDIS, BusKeys, SETUP, Position, BotFeed, GroupFeeds, SocketRegistry],
  },
];
