import type { GroupStreamEvent } from '@flowly/contract';
import type { StreamEntry } from '@flowly/bus';
import { ALL_GROUPS, groupLane } from '../sockets/hold-back';
import type { GroupAudience } from './group-audience';
import { GroupFeed } from './group-feed';
import type { GroupSource } from './group-source';
import type { LiveEntry } from './group-state';

/** The feeds of all groups, found by lane. */
export class GroupFeeds {
  private readonly feeds = new Map<string, GroupFeed>();

  constructor(
    private readonly audience: GroupAudience,
    private readonly source: GroupSource,
    private readonly patchMs: number,
  ) {}

  event(entry: StreamEntry, event: GroupStreamEvent): void {
    this.feed(event.groupId).event(entry, event);
    if (event.type === 'deleted') this.feeds.delete(groupLane(event.groupId));
  }

  live(id: string, groupId: string, entry: LiveEntry): void {
    this.feed(groupId).live(id, entry);
  }

  /** Resolves when everything given so far of that lane has gone to the sockets. */
  async caughtUp(lane: string): Promise<void> {
    const feeds =
      lane === ALL_GROUPS ? [...this.feeds.values()] : [this.feeds.get(lane) ?? []].flat();
    await Promise.all(
      feeds.map((feed) => new Promise<void>((resolve) => feed.afterwards(resolve))),
    );
  }

  /** Forgets everything: what was known may no longer be so. */
  reset(): void {
    for (const feed of this.feeds.values()) feed.stop();
    this.feeds.clear();
  }

  private feed(groupId: string): GroupFeed {
    const lane = groupLane(groupId);
    const found = this.feeds.get(lane);
    if (found) return found;
    const made = new GroupFeed(groupId, this.audience, this.source, this.patchMs);
    this.feeds.set(lane, made);
    return made;
  }
}
