import type { GroupStreamEvent, GroupView, Piece } from '@flowly/contract';
import { readinessOf, type StreamEntry } from '@flowly/bus';
import type { GroupAudience } from './group-audience';
import type { GroupSource } from './group-source';
import { GroupState } from './group-state';
import { GroupWindow } from './group-window';
import { PatchClock } from './patch-clock';
import { TaskLine } from './task-line';

/**
 * One group on its way to the clients: snapshot events as they were committed, and patches made from the
 * fields of the last one and the members' live texts (design rule 4). What is not known, because this
 * gateway started in the middle, is read once it is needed.
 */
export class GroupFeed {
  private state: GroupState | null = null;
  private window: GroupWindow | null = null;
  private readonly line = new TaskLine();
  private readonly patches: PatchClock;
  private isLearning = false;
  /** Members whose record is being read, and whether a later piece asked again meanwhile. */
  private readonly reading = new Map<string, { again: boolean }>();

  constructor(
    private readonly groupId: string,
    private readonly audience: GroupAudience,
    private readonly source: GroupSource,
    patchMs: number,
  ) {
    this.patches = new PatchClock(patchMs, (id) => {
      if (this.state) this.audience.sendPatch(groupId, id, this.state.patch());
    });
  }

  event(entry: StreamEntry, event: GroupStreamEvent): void {
    this.line.run(() => this.snapshot(entry, event));
  }

  piece(id: string, piece: Piece): void {
    this.line.run(() => this.move(id, piece));
  }

  /** Does it when everything given so far has gone to the sockets. */
  afterwards(task: () => void): void {
    this.line.run(task);
  }

  stop(): void {
    this.patches.cancel();
    this.state = null;
  }

  private snapshot(entry: StreamEntry, event: GroupStreamEvent): void | Promise<void> {
    this.patches.cancel();
    if (event.room === undefined) {
      this.state = null;
      return this.audience.sendSnapshot({ id: entry.id, event, messages: null });
    }
    const hadToWait = this.state?.hasWaiting(event.profile) === true;
    this.state = new GroupState(event.room, entry.texts);
    const sent = this.send(entry.id, event, this.viewOf(this.state, entry));
    // First words that came before their member was known to have begun go out as the stream they are.
    const stream = () => {
      if (hadToWait) this.patches.touch(entry.id);
    };
    return sent ? sent.then(stream) : stream();
  }

  private send(id: string, event: GroupStreamEvent, room: GroupView): void | Promise<void> {
    if (!this.audience.wantsMessages) {
      this.window = null;
      return this.audience.sendSnapshot({ id, event, room, messages: null });
    }
    this.window = GroupWindow.after(this.window, event);
    if (this.window === null) return this.sendWithReadWindow(id, event, room);
    return this.audience.sendSnapshot({ id, event, room, messages: this.window.view(event) });
  }

  private async sendWithReadWindow(
    id: string,
    event: GroupStreamEvent,
    room: GroupView,
  ): Promise<void> {
    const messages = await this.source.messages(this.groupId);
    this.window = messages && GroupWindow.of(messages);
    this.audience.sendSnapshot({ id, event, room, messages: this.window?.view(event) ?? null });
  }

  private viewOf(state: GroupState, { readiness }: StreamEntry): GroupView {
    return {
      ...state.fields,
      streams: state.streams(),
      activities: [],
      readiness: readinessOf(state.fields.members, readiness),
    };
  }

  private move(id: string, piece: Piece): void {
    if (this.state === null) {
      void this.learn(id);
      return;
    }
    if (!this.state.isActive(piece.bot)) return;
    const effect = this.state.addPiece(piece.bot, piece.offset, piece.text);
    if (effect === 'moved' && this.state.isShown(piece.bot)) this.patches.touch(id);
    if (effect === 'gap') void this.reread(this.state, id, piece);
  }

  /** Pieces that come meanwhile are in what is read, or show a gap afterwards. */
  private async learn(id: string): Promise<void> {
    if (this.isLearning || this.audience.isEmpty) return;
    this.isLearning = true;
    const view = await this.source.view(this.groupId);
    this.isLearning = false;
    if (view === null || this.state !== null) return;
    const { streams, activities: _, readiness: __, messages: ___, ...fields } = view;
    this.state = new GroupState(fields, streams);
    this.patches.touch(id);
  }

  private async reread(state: GroupState, id: string, piece: Piece): Promise<void> {
    const under = this.reading.get(piece.bot);
    if (under) under.again = true;
    if (under || this.audience.isEmpty) return;
    const read = { again: false };
    this.reading.set(piece.bot, read);
    const text = await this.source.text(piece, this.groupId);
    this.reading.delete(piece.bot);
    if (this.state !== state) return; // a newer event brought its own texts
    if (text !== null) {
      state.setText(piece.bot, text);
      this.patches.touch(id);
    }
    if (read.again) await this.reread(state, id, piece);
  }
}
