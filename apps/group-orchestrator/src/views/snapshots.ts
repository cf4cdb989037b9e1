import {
  newestId,
  readReadiness,
  readReadinessOfAll,
  type BusKeys,
  type LiveRecords,
  type LiveSaid,
  type RedisClient,
} from '@flowly/bus';
import { activitiesOf, ContractError, type GroupView } from '@flowly/contract';
import type { Relay } from '@flowly/delivery';
import { nameMap, pricedView, type PriceOf } from '@flowly/groups';
import type { GroupReader, GroupStore } from '@flowly/store';
import type { CommittedGroup } from './group-event';
import { readView, StoredViews, type StoredView } from './stored-views';

/** A group as the database has it at one moment. */
interface Stored extends Pick<StoredView, 'view' | 'shown'> {
  messages: GroupView['messages'];
}

/** One with what says whether it is still like that. */
type StoredNow = Stored & StoredView;

/** Something that was true at the event `after`. */
export interface Snapshot<T> {
  value: T;
  after: string;
}

/** A reader that finds the database changed in between reads again, so often at most. */
const TRIES = 4;

/**
 * Groups as clients see them: what the database says and what lives in Redis, as of one event, so that a client can
 * go on from there (design rule 4).
 */
export class GroupSnapshots {
  private readonly views = new StoredViews();

  constructor(
    private readonly store: GroupStore,
    private readonly relay: Relay,
    private readonly live: LiveRecords,
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly priceOf: PriceOf,
  ) {}

  /** A group as it is now, for the answer to a repeated command. @throws ContractError ROOM_NOT_FOUND */
  async now(groupId: string, includeMessages: boolean): Promise<GroupView> {
    return this.withLive(await this.stored(groupId, includeMessages));
  }

  /** A group as a commit left it, with the messages it had then. @throws ContractError ROOM_STORE_INVALID */
  async asCommitted(commit: CommittedGroup, includeMessages: boolean): Promise<GroupView> {
    const { view, shown, nextSeq } = commit;
    if (!includeMessages) return this.withLive({ view, shown, messages: undefined });
    const messages = await this.store.read((groups) => groups.liveWindow(view.id));
    return this.withLive({ view, shown, messages: messages.filter(({ seq }) => seq < nextSeq) });
  }

  /** @throws ContractError ROOM_NOT_FOUND */
  async one(groupId: string, includeMessages: boolean): Promise<Snapshot<GroupView>> {
    return this.settled(async () => {
      const stored = await this.stored(groupId, includeMessages);
      return {
        value: () => this.withLive(stored),
        isCurrent: async () =>
          (await this.store.read((groups) => groups.findGroup(groupId)))?.rowRevision ===
          stored.rowRevision,
      };
    });
  }

  /** All groups, newest change first. */
  async all(includeMessages: boolean): Promise<Snapshot<GroupView[]>> {
    return this.settled(async () => {
      const { revision, stored } = await this.store.read((groups) => ({
        revision: groups.revision(),
        stored: this.views.read(groups).map((view) => withMessages(groups, view, includeMessages)),
      }));
      return {
        value: () => this.allWithLive(stored),
        isCurrent: () => Promise.resolve(this.store.revision() === revision),
      };
    });
  }

  /**
   * What a commit said must be on the stream before the position is read, and nothing may be committed between the
   * reading of the database and that of the position. Where commits never cease, the position is that before the
   * reading: what is inside already is told again.
   */
  private async settled<T>(
    read: () => Promise<{
      value: () => Promise<T>;
      isCurrent: () => Promise<boolean>;
    }>,
  ): Promise<Snapshot<T>> {
    for (let tries = 1; ; tries++) {
      const before = await this.position();
      const reading = await read();
      await this.relay.drain();
      // Before the texts: a piece that comes in between is then told again, not missed.
      const after = await this.position();
      const value = await reading.value();
      if (await reading.isCurrent()) return { value, after };
      if (tries === TRIES) return { value, after: before };
    }
  }

  /** The newest event there is. */
  private position(): Promise<string> {
    return newestId(this.redis, this.keys.events);
  }

  private stored(groupId: string, includeMessages: boolean): Promise<StoredNow> {
    return this.store.read((groups) => {
      const record = groups.findGroup(groupId);
      if (!record) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
      return withMessages(groups, readView(groups, record), includeMessages);
    });
  }

  private async withLive(group: Stored): Promise<GroupView> {
    const [readiness, said] = await Promise.all([
      readReadiness(this.redis, this.keys, group.view.id, group.view.members),
      this.said([group]),
    ]);
    return this.shownAs(group, readiness, said);
  }

  /** Two requests to Redis, however many groups there are. */
  private async allWithLive(groups: readonly Stored[]): Promise<GroupView[]> {
    const views = groups.map(({ view }) => view);
    const [readiness, said] = await Promise.all([
      readReadinessOfAll(this.redis, this.keys, views),
      this.said(groups),
    ]);
    return groups.map((group, index) => this.shownAs(group, readiness[index] ?? {}, said));
  }

  /** What those at work have said, by the keys of their steps. */
  private async said(groups: readonly Stored[]): Promise<Map<string, LiveSaid>> {
    const keys = groups.flatMap(({ shown }) => shown.map(({ stepKey }) => stepKey));
    const said = await this.live.readSteps(keys);
    return new Map(said.map((each, index) => [keys[index] ?? '', each]));
  }

  private shownAs(
    { view, shown, messages }: Stored,
    readiness: GroupView['readiness'],
    said: ReadonlyMap<string, LiveSaid>,
  ): GroupView {
    const texts = shown.map(
      ({ member, stepKey }) => [member, said.get(stepKey)?.text ?? ''] as const,
    );
    const calls = shown.map(
      ({ member, stepKey }) => [member, said.get(stepKey)?.calls ?? []] as const,
    );
    return {
      ...pricedView(view, this.priceOf),
      streams: nameMap(texts.filter(([, text]) => text !== '')),
      activities: activitiesOf(calls),
      readiness,
      ...(messages && { messages }),
    };
  }
}

function withMessages(groups: GroupReader, stored: StoredView, wanted: boolean): StoredNow {
  return { ...stored, messages: wanted ? groups.liveWindow(stored.view.id) : undefined };
}
