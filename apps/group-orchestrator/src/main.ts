import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Logger } from 'nestjs-pino';
import { prepareHome } from '@flowly/directory';
import { runService } from '@flowly/service';
import { assertSqliteVersion } from '@flowly/store';
import { ClosedModule } from './closed.module';
import { openStore } from './open-store';
import { OrchestratorModule, SERVICE } from './orchestrator.module';

runService(SERVICE, async (config, log) => {
  assertSqliteVersion();
  const { hostId } = prepareHome(config.home);
  const store = await openStore(config);
  const module =
    'refusal' in store
      ? ClosedModule.forHost(config, log, hostId, store.refusal)
      : OrchestratorModule.forHost(config, log, hostId, store.opened);
  const app = await NestFactory.createApplicationContext(module, { bufferLogs: true });
  app.useLogger(app.get(Logger));
  app.enableShutdownHooks();
});
