import type { BusKeys, LiveRecords, RedisClient } from '@flowly/bus';
import type { BotStopping, Limits } from '@flowly/contract';
import type { Relay } from '@flowly/delivery';
import type { GroupMember } from '@flowly/groups';
import type { GroupMedia, GroupStore } from '@flowly/store';
import type { OnceAtATime } from './readiness/once-at-a-time';
import type { GroupSnapshots } from './views/snapshots';

/** What the commands and processors of groups work with. */
export interface Orchestrator {
  hostId: string;
  store: GroupStore;
  /** The files of groups. */
  media: GroupMedia;
  relay: Relay;
  snapshots: GroupSnapshots;
  preparing: OnceAtATime;
  /** Aborted when this process is told to end. */
  ending: AbortController;
  live: LiveRecords;
  redis: RedisClient;
  keys: BusKeys;
  limits: Limits;
  /** Longest time of a member's turn from its acceptance, in ms. */
  memberTimeoutMs: number;
  /** A bot with the name it is shown by, read from its folder; null when there is none. */
  bot: (name: string) => GroupMember | null;
  /** Whether this very bot is being deleted and still has its folder: until then nobody else has its name. */
  isLeaving: (name: string, botId: string) => boolean;
  /**
   * Whether this stop of this very bot still waits for its groups: one that is told again much later must stop nothing
   * that has begun since.
   */
  isStopping: (stop: BotStopping) => boolean;
  /** Why a bot cannot be used now, for a reader; null when it can. */
  botFault: (name: string) => string | null;
  /** Where a bot's own files are; null when there is no such bot. */
  botMedia: (name: string) => string | null;
}
