import { isDeepStrictEqual } from 'node:util';
import type { GroupEvent, GroupView } from '@flowly/contract';
import { GroupModel, until, wholeHistory, type Client } from '@flowly/testing';
import type { World } from './world';

type Mode = 'full-v1' | 'delta-v1';

/** One socket, and what is known by its events. */
interface Watch {
  client: Client;
  model: GroupModel;
  /** Events that the model has had. */
  applied: number;
  /** How often it had to ask for the history. */
  asked: number;
}

/** A client that reads a group once when it connects and from then on only applies events. */
export class GroupWatcher {
  private constructor(
    private readonly open: () => Promise<Watch>,
    private readonly mode: Mode,
    private watch: Watch,
  ) {}

  static async watch(world: World, roomId: string, eventMode: Mode): Promise<GroupWatcher> {
    const open = async () => {
      const client = await world.connect();
      const { room } = await client.call('profiles.rooms.get', { roomId, eventMode });
      return { client, model: GroupModel.of(room), applied: 0, asked: 0 };
    };
    return new GroupWatcher(open, eventMode, await open());
  }

  /** On a new socket; what was missed is in the group that is read. */
  async reconnect(): Promise<void> {
    this.watch.client.socket.terminate();
    this.watch = await this.open();
  }

  /** Waits until it knows just what the group is, as `read` answers it. */
  async knows(read: () => Promise<GroupView>): Promise<void> {
    const { model } = this.watch;
    let room: Partial<GroupView> = {};
    const known = () => ({ ...model.view, messages: model.messages });
    const same = async () => {
      room = await read();
      await this.catchUp();
      return isDeepStrictEqual(known(), room);
    };
    const difference = () => `${JSON.stringify(known())} and not ${JSON.stringify(room)}`;
    await until(same, 10_000, () => `${this.mode}: ${difference()}`);
    expect(this.watch.asked).toBeLessThanOrEqual(1);
  }

  /** The first event of a group may lack what it adds; then the history is asked for, once (wire.md §5.3). */
  private async catchUp(): Promise<void> {
    const { client, model, applied } = this.watch;
    const events: GroupEvent[] = client.groupEvents(model.groupId);
    for (const event of events.slice(applied)) model.apply(event);
    this.watch.applied = events.length;
    if (model.gaps.length === 0) return;
    this.watch.asked++;
    model.fill(await wholeHistory(client, model.groupId));
  }
}
