import { hostname } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { randomUUID } from 'node:crypto';
import {
  readHeartbeats,
  removeHeartbeat,
  writeHeartbeat,
  type BusKeys,
  type RedisClient,
  type WorkerFault,
} from '@flowly/bus';
import type { Limits } from '@flowly/contract';
import { Periodic } from './periodic';

/** Says once a second that this worker lives, with its figures and what it suffers from (design rule 8). */
export class HeartbeatWriter {
  readonly instance = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  private readonly delay = monitorEventLoopDelay({ resolution: 10 });
  private readonly periodic: Periodic;

  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly service: string,
    limits: Limits,
    figures: () => Record<string, number>,
    onError: (error: unknown) => void,
    fault: () => WorkerFault | undefined = () => undefined,
  ) {
    const beat = () => ({
      service,
      instance: this.instance,
      at: Date.now(),
      figures: { ...this.own(), ...figures() },
      fault: fault(),
    });
    this.periodic = new Periodic(
      limits.heartbeatMs,
      () => writeHeartbeat(redis, keys, beat(), limits.heartbeatGoneMs),
      onError,
    );
  }

  start(): void {
    this.delay.enable();
    this.periodic.start();
  }

  async stop(): Promise<void> {
    await this.periodic.stop();
    this.delay.disable();
    await removeHeartbeat(this.redis, this.keys, this.service, this.instance);
  }

  private own(): Record<string, number> {
    const figures = {
      eventLoopDelayP99Ms: Number.isNaN(this.delay.percentile(99))
        ? 0
        : this.delay.percentile(99) / 1e6,
      rssBytes: process.memoryUsage.rss(),
    };
    this.delay.reset();
    return figures;
  }
}

/** Whether a worker of this service on this machine has a fresh heartbeat; for `main.js --health`. */
export async function hasOwnHeartbeat(
  redis: RedisClient,
  keys: BusKeys,
  service: string,
): Promise<boolean> {
  const heartbeats = await readHeartbeats(redis, keys);
  return heartbeats.some(
    (beat) => beat.service === service && beat.instance.startsWith(`${hostname()}-`),
  );
}
