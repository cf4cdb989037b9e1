import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Logger } from 'nestjs-pino';
import { prepareHome } from '@flowly/directory';
import { createLogger, healthCommand, loadConfig, logConfig } from '@flowly/service';
import { assertSqliteVersion } from '@flowly/store';
import { OrchestratorModule, SERVICE } from './orchestrator.module';

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  if (process.argv.includes('--health')) return healthCommand(SERVICE, config);
  const log = createLogger(SERVICE, config);
  logConfig(log, config);
  assertSqliteVersion();
  const { hostId } = prepareHome(config.home);
  const module = OrchestratorModule.forHost(config, log, hostId);
  const app = await NestFactory.createApplicationContext(module, { bufferLogs: true });
  app.useLogger(app.get(Logger));
  app.enableShutdownHooks();
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
});
