import { randomUUID } from 'node:crypto';
import { Module, type DynamicModule } from '@nestjs/common';
import { FileFetcher, LiveTurns } from '@flowly/agent';
import { Bus } from '@flowly/bus';
import { Relay } from '@flowly/delivery';
import { Directory, loadSealKey, OpenBots } from '@flowly/directory';
import { loggerModule, type Log, type ServiceConfig } from '@flowly/service';
import { GroupMedia, openHostStore } from '@flowly/store';
import { BotRelays, presentResult } from './bot-relays';
import { RUNNER, RunnerLifecycle, SEAL_PUBLIC_KEY, SERVICE, SERVICE_CONFIG } from './lifecycle';
import type { Runner } from './runner';
import { Titles } from './turns/titles';
import { TurnSlots } from './turns/turn-slots';

/** The service of bots: their directory and databases, what carries decisions out, the turns. */
@Module({})
export class RunnerModule {
  static forHost(config: ServiceConfig, log: Log, hostId: string): DynamicModule {
    const sealKey = loadSealKey(config.home);
    return {
      module: RunnerModule,
      imports: [loggerModule(log)],
      providers: [
        { provide: SERVICE_CONFIG, useValue: config },
        { provide: SEAL_PUBLIC_KEY, useValue: sealKey.publicKey },
        { provide: RUNNER, useFactory: () => compose(config, log, hostId, sealKey.privateKeyPem) },
        RunnerLifecycle,
      ],
    };
  }
}

/** Opens everything a runner works with; nothing of it takes work yet. */
export async function compose(
  config: ServiceConfig,
  log: Log,
  hostId: string,
  sealKeyPem: string,
): Promise<Runner> {
  const { limits, home } = config;
  const failed = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const bus = new Bus({
    redisUrl: config.redisUrl,
    hostId,
    name: SERVICE,
    limits,
    onError: (error) => log.warn({ err: error }, 'redis'),
  });
  const host = await openHostStore({ home, busyMs: limits.storeBusyMs });
  const directory = new Directory(home);
  return {
    hostId,
    home,
    bus,
    host,
    hostRelay: new Relay(host, bus, presentResult, failed('relay')),
    directory,
    openBots: new OpenBots(directory, { busyMs: limits.storeBusyMs }),
    relays: new BotRelays(bus, failed('relay')),
    turns: new LiveTurns(randomUUID(), limits),
    slots: new TurnSlots(config.runnerConcurrency),
    titles: new Titles(limits.titleMs, failed('title')),
    settings: {
      live: bus.live,
      media: new GroupMedia(home),
      fetcher: new FileFetcher(limits),
      home,
      limits,
      onError: failed('turn'),
    },
    sealKeyPem,
    limits,
    log,
  };
}
