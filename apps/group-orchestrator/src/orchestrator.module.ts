import { Module, type DynamicModule } from '@nestjs/common';
import { Bus } from '@flowly/bus';
import { Relay } from '@flowly/delivery';
import { botFault, Directory, mediaFolder } from '@flowly/directory';
import { Prices } from '@flowly/prices';
import { GroupMedia, GroupStore, isStopPendingAt } from '@flowly/store';
import { loggerModule, type Log, type ServiceConfig } from '@flowly/service';
import { ORCHESTRATOR, OrchestratorLifecycle, SERVICE_CONFIG, SERVICE_LOG } from './lifecycle';
import type { Orchestrator } from './orchestrator';
import { presentOutcome } from './outcomes';
import { PriceRefresh } from './price-refresh';
import { OnceAtATime } from './readiness/once-at-a-time';
import { pricedEvent } from './views/priced-event';
import { GroupSnapshots } from './views/snapshots';

export const SERVICE = 'group-orchestrator';

/** The group service: its store, what carries its decisions out, its workers. */
@Module({})
export class OrchestratorModule {
  static forHost(
    config: ServiceConfig,
    log: Log,
    hostId: string,
    store: GroupStore,
  ): DynamicModule {
    return {
      module: OrchestratorModule,
      imports: [loggerModule(log)],
      providers: [
        { provide: SERVICE_CONFIG, useValue: config },
        { provide: SERVICE_LOG, useValue: log },
        { provide: Bus, useFactory: () => openBus(config, log, hostId) },
        { provide: GroupStore, useValue: store },
        { provide: Prices, useFactory: () => openPrices(config, log) },
        {
          provide: ORCHESTRATOR,
          inject: [Bus, GroupStore, Prices],
          useFactory: (bus: Bus, store: GroupStore, prices: Prices) =>
            compose(config, log, hostId, bus, store, prices),
        },
        OrchestratorLifecycle,
        PriceRefresh,
      ],
    };
  }
}

export function openBus(config: ServiceConfig, log: Log, hostId: string): Bus {
  return new Bus({
    redisUrl: config.redisUrl,
    hostId,
    name: SERVICE,
    limits: config.limits,
    onError: (error) => log.warn({ err: error }, 'redis'),
  });
}

function openPrices({ home }: ServiceConfig, log: Log): Prices {
  const onBroken = (problem: string) =>
    log.warn({ file: 'prices.json', problem }, 'own prices are not used');
  return new Prices({ home, onBroken });
}

/** The relay answers with snapshots and snapshots wait for the relay, so the two are tied here. */
function compose(
  config: ServiceConfig,
  log: Log,
  hostId: string,
  bus: Bus,
  store: GroupStore,
  { priceOf }: Prices,
): Orchestrator {
  const directory = new Directory(config.home);
  const relay: Relay = new Relay(
    store.database,
    bus,
    (outcome) => presentOutcome(outcome, hostId, snapshots),
    (error) => log.error({ err: error }, 'relay'),
    { dress: (event) => pricedEvent(event, priceOf) },
  );
  const snapshots = new GroupSnapshots(store, relay, bus.live, bus.redis, bus.keys, priceOf);
  return {
    hostId,
    store,
    media: new GroupMedia(config.home),
    relay,
    snapshots,
    preparing: new OnceAtATime(bus.redis, bus.keys),
    ending: new AbortController(),
    live: bus.live,
    redis: bus.redis,
    keys: bus.keys,
    limits: config.limits,
    memberTimeoutMs: config.memberTimeoutMs,
    bot: (name) => {
      const bot = directory.find(name);
      return bot && { name, displayName: bot.profile.displayName };
    },
    isLeaving: (name, botId) => {
      const bot = directory.findFolder(name);
      return bot?.botId === botId && bot.profile.deleting !== undefined;
    },
    isStopping: ({ bot: name, botId, command }) => {
      const bot = directory.find(name);
      return bot?.botId === botId && isStopPendingAt(bot.folder, command.id);
    },
    botFault: (name) => botFault(directory.find(name)),
    botMedia: (name) => {
      const bot = directory.find(name);
      return bot && mediaFolder(bot);
    },
  };
}
