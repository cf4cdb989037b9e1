import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
} from '@nestjs/common';
import type { Queues, StreamTail } from '@flowly/bus';
import type { HeartbeatWriter } from '@flowly/service';
import type { Connections } from './connections';
import type { Position } from './fanout/position';
import type { StreamWatch } from './fanout/stream-watch';
import type { Metrics } from './http/metrics';
import type { Claims } from './sockets/claims';
import type { Farewell } from './sockets/farewell';
import type { Heart } from './sockets/heart';

/** Starts what runs by itself before the port is open, and ends it after the sockets are closed. */
export class Life
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  constructor(
    private readonly connections: Connections,
    private readonly queues: Queues,
    private readonly tail: StreamTail,
    private readonly position: Position,
    private readonly watch: StreamWatch,
    private readonly claims: Claims,
    private readonly heart: Heart,
    private readonly heartbeat: HeartbeatWriter,
    private readonly metrics: Metrics,
    private readonly farewell: Farewell,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.connections.ready();
    await this.tail.start();
    this.position.advance(this.tail.position);
    await this.claims.start();
    await this.watch.start();
    this.heart.start();
    this.heartbeat.start();
  }

  /** Ctrl-C is somebody who stops the gateway; any other signal comes from what will start it again. */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    await this.farewell.say(signal !== 'SIGINT');
  }

  async onApplicationShutdown(): Promise<void> {
    this.heart.stop();
    this.metrics.stop();
    await this.watch.stop();
    await this.heartbeat.stop().catch(this.connections.failed);
    this.tail.stop();
    await this.queues.close();
    this.connections.close();
  }
}
