import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Logger } from 'nestjs-pino';
import { prepareHome } from '@flowly/directory';
import { runService } from '@flowly/service';
import { assertSqliteVersion } from '@flowly/store';
import { SERVICE } from './lifecycle';
import { RunnerModule } from './runner.module';

runService(SERVICE, async (config, log) => {
  assertSqliteVersion();
  const { hostId } = prepareHome(config.home);
  const module = RunnerModule.forHost(config, log, hostId);
  const app = await NestFactory.createApplicationContext(module, { bufferLogs: true });
  app.useLogger(app.get(Logger));
  app.enableShutdownHooks();
});
