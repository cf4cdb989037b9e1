import { isPositionGone, readEra, trimEvents, type BusKeys, type RedisClient } from '@flowly/bus';
import type { Limits } from '@flowly/contract';
import { Periodic } from '@flowly/service';
import type { Position } from './position';

const EVERY_MS = 1_000;

/** Keeps the event stream within its bounds and notices when what this gateway follows is gone. */
export class StreamWatch {
  private readonly periodic: Periodic;
  private era: string | null = null;
  private lostAt: string | null = null;

  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly limits: Limits,
    private readonly position: Position,
    private readonly onLost: () => void,
    onError: (error: unknown) => void,
  ) {
    this.periodic = new Periodic(EVERY_MS, () => this.look(), onError);
  }

  /** @throws when Redis does not answer */
  async start(): Promise<void> {
    this.era = await readEra(this.redis, this.keys);
    this.periodic.start();
  }

  async stop(): Promise<void> {
    await this.periodic.stop();
  }

  private async look(): Promise<void> {
    if (this.redis.status !== 'ready') return;
    await trimEvents(this.redis, this.keys, this.limits);
    const era = await readEra(this.redis, this.keys);
    const position = this.position.current;
    const isGone =
      position !== this.lostAt && (await isPositionGone(this.redis, this.keys, position));
    if (era === this.era && !isGone) return;
    this.era = era;
    this.lostAt = position;
    this.onLost();
  }
}
