import type {
  GroupEvent,
  GroupMessage,
  GroupPatch,
  GroupStreamEvent,
  GroupView,
} from '@flowly/contract';
import { eventFrame, type Frame } from '../frames/frame';
import type { ClientSocket } from '../sockets/client-socket';
import { groupLane } from '../sockets/hold-back';
import { topic } from '../sockets/subscriptions';
import type { Topics } from '../sockets/topics';
import { baselineAfter, continues } from './baseline';

/** A snapshot event with everything any client gets of it. */
export interface GroupSnapshot {
  id: string;
  event: GroupStreamEvent;
  room?: GroupView;
  /** The live window; null when nobody asked for it or it could not be had. */
  messages: GroupMessage[] | null;
}

/** The state of a client that cannot be told what it was promised: it reads everything afresh. */
const SERVICE_RESTART = 1012;

/** Everybody who hears of groups, each in its own way (wire.md §5.3). */
export class GroupAudience {
  constructor(
    private readonly topics: Topics<ClientSocket>,
    private readonly hostId: string,
  ) {}

  get isEmpty(): boolean {
    return this.sockets.size === 0;
  }

  /** Whether somebody wants the live window in each event. */
  get wantsMessages(): boolean {
    return [...this.sockets].some(({ subscriptions }) => subscriptions.mode === 'full-v1');
  }

  sendPatch(roomId: string, type: 'stream' | 'activity', id: string, patch: GroupPatch): void {
    if (this.isEmpty) return;
    const frame = this.frame({ hostId: this.hostId, roomId, type, patch }, id);
    for (const socket of this.sockets)
      this.pass(socket, roomId, id, { ...frame, replaceable: true });
  }

  sendSnapshot(snapshot: GroupSnapshot): void {
    const { id, event } = snapshot;
    const frames = new Map<string, Frame>();
    for (const socket of this.sockets) {
      const full = socket.subscriptions.mode === 'full-v1' && event.room !== undefined;
      if (full && snapshot.messages === null) {
        socket.close(SERVICE_RESTART);
        continue;
      }
      const withAppended = continues(socket.baselines.get(event.groupId), event);
      const variant = `${full} ${withAppended}`;
      const frame = frames.get(variant) ?? this.snapshotFrame(snapshot, full, withAppended);
      frames.set(variant, frame);
      if (event.room === undefined) socket.baselines.delete(event.groupId);
      else socket.baselines.set(event.groupId, baselineAfter(event));
      this.pass(socket, event.groupId, id, frame);
    }
  }

  private get sockets(): ReadonlySet<ClientSocket> {
    return this.topics.of(topic.groups);
  }

  private snapshotFrame(snapshot: GroupSnapshot, full: boolean, withAppended: boolean): Frame {
    const { kind: _, groupId: roomId, room: __, appended, ...said } = snapshot.event;
    const { room, messages } = snapshot;
    const data: GroupEvent = { hostId: this.hostId, roomId, ...said };
    if (room) data.room = full && messages ? { ...room, messages } : room;
    if (withAppended && appended) data.appended = appended;
    return this.frame(data, snapshot.id);
  }

  private frame(data: GroupEvent, id: string): Frame {
    return { ...eventFrame('profile.room', data, id), lane: groupLane(data.roomId) };
  }

  private pass(socket: ClientSocket, groupId: string, id: string, frame: Frame): void {
    socket.hold.pass(groupLane(groupId), id, frame);
  }
}
