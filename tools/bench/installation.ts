import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startRedis, startSystem, type System, type TestRedis } from '@flowly/testing';
import { BenchClient } from './client';
import { Child } from './child';
import { FloorClient } from './floor-client';
import { now } from './now';

/** Services at work on a data folder, with a client. */
export interface Running {
  system: System;
  client: BenchClient;
  /** From the first process to `/ready`, in ms. */
  startMs: number;
}

/** A data folder that is filled while its services do not run, and started as often as a measure wants. */
export class Installation {
  private running: Running | null = null;

  private constructor(
    readonly home: string,
    private readonly redis: TestRedis,
    private readonly env: NodeJS.ProcessEnv,
    private readonly floorProgram: Child,
    readonly floor: FloorClient,
  ) {}

  /** @param env further environment of the services */
  static async make(env: NodeJS.ProcessEnv): Promise<Installation> {
    const home = mkdtempSync(path.join(os.tmpdir(), 'flowly-bench-'));
    const floorProgram = await Child.start('floor');
    const floor = await FloorClient.connect(Number(floorProgram.hello));
    return new Installation(home, await startRedis(), env, floorProgram, floor);
  }

  async start(): Promise<Running> {
    const begun = now();
    const { home, redis } = this;
    const system = await startSystem({ home, redis, env: { LOG_LEVEL: 'warn', ...this.env } });
    const startMs = now() - begun;
    this.running = { system, startMs, client: await BenchClient.connect(system.url) };
    return this.running;
  }

  async stop(): Promise<void> {
    this.running?.client.close();
    await this.running?.system.stop();
    this.running = null;
  }

  /** Ends everything and removes the data folder. */
  async remove(): Promise<void> {
    await this.stop();
    this.floor.close();
    this.floorProgram.stop();
    await this.redis.stop();
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Resident memory of each service in MiB, by name. */
export function memoryOf({ instances }: System): Record<string, number> {
  return Object.fromEntries(
    instances.map(({ label, pid }) => {
      const kib = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
      return [label, Math.round(Number(kib) / 1024)];
    }),
  );
}
