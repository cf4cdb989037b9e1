import { Module, type DynamicModule } from '@nestjs/common';
import { Bus } from '@flowly/bus';
import { Relay } from '@flowly/delivery';
import { Directory } from '@flowly/directory';
import { GroupStore, openGroupStore } from '@flowly/store';
import { loggerModule, type Log, type ServiceConfig } from '@flowly/service';
import { ORCHESTRATOR, OrchestratorLifecycle, SERVICE_CONFIG, SERVICE_LOG } from './lifecycle';
import type { Orchestrator } from './orchestrator';
import { presentOutcome } from './outcomes';
import { GroupSnapshots } from './views/snapshots';

export const SERVICE = 'group-orchestrator';

/** The group service: its store, what carries its decisions out, its workers. */
@Module({})
export class OrchestratorModule {
  static forHost(config: ServiceConfig, log: Log, hostId: string): DynamicModule {
    return {
      module: OrchestratorModule,
      imports: [loggerModule(log)],
      providers: [
        { provide: SERVICE_CONFIG, useValue: config },
        { provide: SERVICE_LOG, useValue: log },
        { provide: Bus, useFactory: () => openBus(config, log, hostId) },
        { provide: GroupStore, useFactory: () => openStore(config) },
        {
          provide: ORCHESTRATOR,
          inject: [Bus, GroupStore],
          useFactory: (bus: Bus, store: GroupStore) => compose(config, log, hostId, bus, store),
        },
        OrchestratorLifecycle,
      ],
    };
  }
}

function openBus(config: ServiceConfig, log: Log, hostId: string): Bus {
  return new Bus({
    redisUrl: config.redisUrl,
    hostId,
    name: SERVICE,
    limits: config.limits,
    onError: (error) => log.warn({ err: error }, 'redis'),
  });
}

function openStore(config: ServiceConfig): Promise<GroupStore> {
  return openGroupStore({ home: config.home, busyMs: config.limits.storeBusyMs });
}

/** The relay answers with snapshots and snapshots wait for the relay, so the two are tied here. */
function compose(
  config: ServiceConfig,
  log: Log,
  hostId: string,
  bus: Bus,
  store: GroupStore,
): Orchestrator {
  const directory = new Directory(config.home);
  const relay: Relay = new Relay(
    store.database,
    bus,
    (outcome) => presentOutcome(outcome, hostId, snapshots),
    (error) => log.error({ err: error }, 'relay'),
  );
  const snapshots = new GroupSnapshots(store, relay, bus.live, bus.redis, bus.keys);
  return {
    hostId,
    store,
    relay,
    snapshots,
    live: bus.live,
    redis: bus.redis,
    keys: bus.keys,
    limits: config.limits,
    memberTimeoutMs: config.memberTimeoutMs,
    bot: (name) => {
      const bot = directory.find(name);
      return bot && { name, displayName: bot.profile.displayName };
    },
  };
}
