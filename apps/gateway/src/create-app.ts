import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { Entrance } from './auth/entrance';
import { GatewayModule } from './gateway.module';
import { installEdgeRules } from './http/edge-rules';
import type { GatewaySetup } from './setup';
import { Door } from './sockets/door';
import { EdgeWsAdapter } from './sockets/edge-ws-adapter';

const BODY_BYTES = 1024 * 1024;

/** The gateway, ready to listen. */
export async function createApp(setup: GatewaySetup): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.with(setup),
    new FastifyAdapter({ bodyLimit: BODY_BYTES }),
    { bufferLogs: true, abortOnError: false },
  );
  app.useLogger(app.get(Logger));
  const door = app.get(Door);
  const verify = door.refusal.bind(door);
  app.useWebSocketAdapter(new EdgeWsAdapter(app, verify, setup.config.limits.frameBytes));
  installEdgeRules(app, app.get(Entrance));
  return app;
}
