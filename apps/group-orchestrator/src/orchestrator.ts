import type { BusKeys, LiveRecords, RedisClient } from '@flowly/bus';
import type { Limits } from '@flowly/contract';
import type { Relay } from '@flowly/delivery';
import type { GroupMember } from '@flowly/groups';
import type { GroupStore } from '@flowly/store';
import type { GroupSnapshots } from './views/snapshots';

/** What the commands and processors of groups work with. */
export interface Orchestrator {
  hostId: string;
  store: GroupStore;
  relay: Relay;
  snapshots: GroupSnapshots;
  live: LiveRecords;
  redis: RedisClient;
  keys: BusKeys;
  limits: Limits;
  /** Longest time of a member's turn from its acceptance, in ms. */
  memberTimeoutMs: number;
  /** A bot with the name it is shown by, read from its folder; null when there is none. */
  bot: (name: string) => GroupMember | null;
}
