import { streamEventSchema } from '@flowly/contract';
import type { StreamEntry } from '@flowly/bus';
import type { BotFeed } from './bot-feed';
import type { GroupFeeds } from './group-feeds';
import type { Position } from './position';

/** Hands each entry of the event stream to those who show it. */
export class Fanout {
  constructor(
    private readonly position: Position,
    private readonly bots: BotFeed,
    private readonly groups: GroupFeeds,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** An entry that cannot be read is told and left behind: the tail must go on. */
  handle(entry: StreamEntry): void {
    try {
      this.dispatch(entry);
    } catch (error) {
      this.onError(error);
    }
    this.position.advance(entry.id);
  }

  private dispatch(entry: StreamEntry): void {
    const event = streamEventSchema.parse(JSON.parse(entry.event));
    if (event.kind === 'group') this.groups.event(entry, event);
    else if (event.kind === 'bot') this.bots.event(entry.id, event);
    else if (event.groupId !== undefined) this.groups.live(entry.id, event.groupId, event);
    else if (event.kind === 'piece') this.bots.piece(entry.id, event);
  }
}
