import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { BotStreamEvent, GroupStreamEvent, Readiness } from '@flowly/contract';
import type { RedisClient } from './connection';
import { liveRunKey, type BusKeys } from './keys';
import { publish } from './live-scripts';
import { beginAnew } from './stream-care';

/** What an event's publication changes in Redis, in the same step (design rules 1 and 4). */
export interface PublishEffects {
  /** Members that become `starting` unless they are `ready`. */
  starting?: string[] | undefined;
  readiness?: Record<string, Readiness> | undefined;
  /** Runs whose live record takes no more writes. */
  closed?: { botId: string; runId: string; groupId?: string | undefined }[] | undefined;
  /** Active members whose text and tool calls so far are added to the event. */
  shown?: { member: string; stepKey: string }[] | undefined;
}

/** Puts committed events of a database onto the stream, each once and in order. */
export class EventPublisher {
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
  ) {}

  /** @param seq the outbox sequence; one that is not newer than the last is dropped. Returns the event id. */
  async publish(
    databaseId: string,
    seq: number,
    event: GroupStreamEvent | BotStreamEvent,
    effects: PublishEffects = {},
  ): Promise<string> {
    const readiness =
      event.kind === 'group' ? this.keys.readiness(event.groupId) : `${this.keys.prefix}:none`;
    const id = await publish.run(
      this.redis,
      [this.keys.events, this.keys.relayed, readiness],
      [
        databaseId,
        seq,
        JSON.stringify(event),
        new Date().toISOString(),
        event.kind === 'group' && event.type === 'deleted' ? 1 : 0,
        ...this.effectArgs(effects),
      ],
    );
    return z.string().parse(id);
  }

  /**
   * To be called before the first event of an outbox. Where one of the same name (before the `@`) was there before, the
   * database was set back or is another one: much that was told is undone, so nobody may go on from an earlier place in
   * the stream. Has an effect once for each outbox.
   */
  async beginAnew(databaseId: string): Promise<void> {
    await beginAnew.run(
      this.redis,
      [this.keys.events, this.keys.relayed, this.keys.trimmed, this.keys.era],
      [databaseId, randomUUID()],
    );
  }

  private effectArgs(effects: PublishEffects): (string | number)[] {
    const starting = effects.starting ?? [];
    const readiness = Object.entries(effects.readiness ?? {});
    const closed = (effects.closed ?? []).map(liveRunKey);
    const shown = effects.shown ?? [];
    return [
      starting.length,
      ...starting,
      readiness.length,
      ...readiness.flatMap(([member, state]) => [member, JSON.stringify(state)]),
      closed.length,
      ...closed.flatMap((runKey) => [
        this.keys.live(runKey),
        ...this.saidKeys(runKey),
        this.keys.liveProgress(runKey),
      ]),
      shown.length,
      ...shown.flatMap(({ member, stepKey }) => [
        member,
        ...this.saidKeys(liveRunKey({ botId: '', runId: stepKey, groupId: '' })),
      ]),
    ];
  }

  private saidKeys(runKey: string): string[] {
    return [this.keys.liveText(runKey), this.keys.liveCalls(runKey)];
  }
}
