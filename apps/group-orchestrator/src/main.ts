import 'reflect-metadata';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Logger } from 'nestjs-pino';
import { prepareHome } from '@flowly/directory';
import { runService } from '@flowly/service';
import { assertSqliteVersion, ClosedStore, type GroupStore } from '@flowly/store';
import { ClosedLifecycle } from './closed-lifecycle';
import { ClosedModule } from './closed.module';
import { OrchestratorModule, SERVICE } from './orchestrator.module';

runService(SERVICE, async (config, log) => {
  assertSqliteVersion();
  const { home, limits } = config;
  const { hostId } = prepareHome(home);
  const store = await ClosedStore.open({
    home,
    busyMs: limits.storeBusyMs,
    fileBytes: limits.storeBytes,
  });
  const mended = async (store: ClosedStore): Promise<GroupStore> => {
    const closed = await start(ClosedModule.forHost(config, log, hostId, store));
    const opened = await closed.get(ClosedLifecycle).opened;
    await closed.close();
    return opened;
  };
  const opened = store instanceof ClosedStore ? await mended(store) : store;
  await start(OrchestratorModule.forHost(config, log, hostId, opened));
});

async function start(module: DynamicModule): Promise<INestApplicationContext> {
  const app = await NestFactory.createApplicationContext(module, { bufferLogs: true });
  app.useLogger(app.get(Logger));
  app.enableShutdownHooks();
  return app;
}
