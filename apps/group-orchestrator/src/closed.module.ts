import { Module, type DynamicModule } from '@nestjs/common';
import { Bus } from '@flowly/bus';
import { loggerModule, type Log, type ServiceConfig } from '@flowly/service';
import type { ClosedStore } from '@flowly/store';
import { CLOSED_STORE, ClosedLifecycle, HOST_ID } from './closed-lifecycle';
import { SERVICE_CONFIG, SERVICE_LOG } from './lifecycle';
import { openBus } from './orchestrator.module';

/** The group service over a store that cannot be opened: every call is told why, the file is not touched (store.md §3). */
@Module({})
export class ClosedModule {
  static forHost(
    config: ServiceConfig,
    log: Log,
    hostId: string,
    store: ClosedStore,
  ): DynamicModule {
    return {
      module: ClosedModule,
      imports: [loggerModule(log)],
      providers: [
        { provide: SERVICE_CONFIG, useValue: config },
        { provide: SERVICE_LOG, useValue: log },
        { provide: HOST_ID, useValue: hostId },
        { provide: CLOSED_STORE, useValue: store },
        { provide: Bus, useFactory: () => openBus(config, log, hostId) },
        ClosedLifecycle,
      ],
    };
  }
}
