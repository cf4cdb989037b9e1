import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { defaultLimits, type Limits } from '@flowly/contract';
import { createLogger, loadConfig } from '@flowly/service';
import { startRedis, type TestRedis } from '@flowly/testing';
import { createApp } from '../create-app';
import { TestClient } from './client.harness';
import { TestServices } from './services.harness';

export const HOST_ID = '11111111-1111-4111-8111-111111111111';

export interface GatewayOptions {
  limits?: Partial<Limits>;
  environment?: NodeJS.ProcessEnv;
  token?: string;
}

/** A gateway in this process, on a port of its own. */
export interface TestGateway {
  app: NestFastifyApplication;
  port: number;
  url: string;
  client(query?: string, headers?: Record<string, string>): Promise<TestClient>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

/** A Redis, workers that stand for the services, and any number of gateways. */
export class TestEdge {
  private readonly gateways: TestGateway[] = [];

  private constructor(
    readonly redis: TestRedis,
    readonly services: TestServices,
    readonly home: string,
  ) {}

  static async start(): Promise<TestEdge> {
    const redis = await startRedis();
    const home = await mkdtemp(join(tmpdir(), 'flowly-gateway-'));
    return new TestEdge(redis, new TestServices(redis.url, HOST_ID), home);
  }

  async gateway(options: GatewayOptions = {}): Promise<TestGateway> {
    const environment = {
      FLOWLY_HOME: this.home,
      REDIS_URL: this.redis.url,
      LOG_LEVEL: 'silent',
      ...options.environment,
    };
    const config = loadConfig(environment);
    const limits = { ...defaultLimits, readdMs: 50, ...options.limits };
    const app = await createApp({
      config: { ...config, limits },
      hostId: HOST_ID,
      token: options.token ?? null,
      version: '9.9.9',
      log: createLogger('gateway', config),
    });
    await app.listen(0, config.gatewayHost);
    const gateway = this.handle(app, config.gatewayHost);
    this.gateways.push(gateway);
    return gateway;
  }

  async stop(): Promise<void> {
    await this.services.close();
    await Promise.all(this.gateways.map((gateway) => gateway.stop()));
    await this.redis.stop();
    await rm(this.home, { recursive: true });
  }

  private handle(app: NestFastifyApplication, host: string): TestGateway {
    const address = app.getHttpServer().address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const url = `http://${host}:${port}`;
    let stopped: Promise<void> | undefined;
    return {
      app,
      port,
      url,
      client: (query = '', headers = {}) =>
        TestClient.open(`ws://${host}:${port}/ws${query}`, headers),
      fetch: (path, init) => fetch(url + path, init),
      stop: () => (stopped ??= app.close()),
    };
  }
}
