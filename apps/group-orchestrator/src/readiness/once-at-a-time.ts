import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BusKeys, RedisClient } from '@flowly/bus';

/** As long as a process that died holds up the others; far longer than the work takes. */
const HELD_MS = 10_000;
const LOOK_AGAIN_MS = 20;

/**
 * Work on a group that several callers want at once is done by one of them, in whichever process, and the others wait
 * for it. One who comes when it is done has it done again.
 */
export class OnceAtATime {
  private readonly here = new Map<string, Promise<void>>();

  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
  ) {}

  /** @throws what `work` throws, when it was done here */
  do(groupId: string, work: () => Promise<void>): Promise<void> {
    const going = this.here.get(groupId);
    if (going) return going;
    const mine = this.amongProcesses(groupId, work).finally(() => this.here.delete(groupId));
    this.here.set(groupId, mine);
    return mine;
  }

  private async amongProcesses(groupId: string, work: () => Promise<void>): Promise<void> {
    const key = this.keys.preparing(groupId);
    const own = randomUUID();
    for (;;) {
      if ((await this.redis.set(key, own, 'PX', HELD_MS, 'NX')) !== null) {
        return this.hold(groupId, own, work);
      }
      if (await this.isDoneByOther(groupId)) return;
    }
  }

  private async hold(groupId: string, own: string, work: () => Promise<void>): Promise<void> {
    const { redis, keys } = this;
    try {
      await work();
      await redis.set(keys.prepared(groupId), own, 'PX', HELD_MS);
    } finally {
      if ((await redis.get(keys.preparing(groupId))) === own) {
        await redis.del(keys.preparing(groupId));
      }
    }
  }

  /** Waits until whoever does it now has come to an end. */
  private async isDoneByOther(groupId: string): Promise<boolean> {
    const { redis, keys } = this;
    const other = await redis.get(keys.preparing(groupId));
    if (other === null) return false;
    while ((await redis.get(keys.preparing(groupId))) === other) await delay(LOOK_AGAIN_MS);
    return (await redis.get(keys.prepared(groupId))) === other;
  }
}
