import type { GroupStreamEvent, GroupView, Piece } from '@flowly/contract';
import { readinessOf, type StreamEntry } from '@flowly/bus';
import type { GroupAudience } from './group-audience';
import type { GroupSource } from './group-source';
import { GroupState, livePartsOf, type LiveEntry } from './group-state';
import { GroupWindow } from './group-window';
import { PatchClock } from './patch-clock';
import { TaskLine } from './task-line';

/**
 * One group on its way to the clients: snapshot events as they were committed, and patches made from the
 * fields of the last one and what the members at work say and do (design rule 4). What is not known, because this
 * gateway started in the middle, is read once it is needed.
 */
export class GroupFeed {
  private state: GroupState | null = null;
  private window: GroupWindow | null = null;
  private readonly line = new TaskLine();
  private readonly patches: PatchClock;
  /** Whether the next patch tells of tools. */
  private tellsOfTools = false;
  private isLearning = false;
  /** Members whose text is being read; whether it has to be read again, and whether it is over by now. */
  private readonly reading = new Map<string, { again: boolean; over: boolean }>();

  constructor(
    private readonly groupId: string,
    private readonly audience: GroupAudience,
    private readonly source: GroupSource,
    patchMs: number,
  ) {
    this.patches = new PatchClock(patchMs, (id) => this.sendPatch(id));
  }

  event(entry: StreamEntry, event: GroupStreamEvent): void {
    this.line.run(() => this.snapshot(entry, event));
  }

  live(id: string, entry: LiveEntry): void {
    this.line.run(() => this.move(id, entry));
  }

  /** Does it when everything given so far has gone to the sockets. */
  afterwards(task: () => void): void {
    this.line.run(task);
  }

  stop(): void {
    this.patches.cancel();
    this.state = null;
  }

  private sendPatch(id: string): void {
    const type = this.tellsOfTools ? 'activity' : 'stream';
    this.tellsOfTools = false;
    if (this.state) this.audience.sendPatch(this.groupId, type, id, this.state.patch());
  }

  private snapshot(entry: StreamEntry, event: GroupStreamEvent): void | Promise<void> {
    this.patches.cancel();
    this.tellsOfTools = false;
    if (event.room === undefined) {
      this.state = null;
      return this.audience.sendSnapshot({ id: entry.id, event, messages: null });
    }
    const waited = this.state?.waitingOf(event.profile);
    this.state = new GroupState(event.room, entry);
    const sent = this.send(entry.id, event, this.viewOf(this.state, entry));
    // What came before its member was known to have begun goes out as the patch it is.
    const catchUp = () => {
      if (waited?.text || waited?.calls) this.touch(entry.id, waited.calls);
    };
    return sent ? sent.then(catchUp) : catchUp();
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
      activities: state.activities(),
      readiness: readinessOf(state.fields.members, readiness),
    };
  }

  private move(id: string, entry: LiveEntry): void {
    if (this.state === null) {
      void this.learn(id, entry.kind === 'activity');
      return;
    }
    if (!this.state.isActive(entry.bot)) return;
    if (entry.kind === 'step') this.outdate(entry.bot);
    const effect = this.state.take(entry);
    if (effect === 'moved' && this.state.isShown(entry.bot))
      this.touch(id, entry.kind === 'activity');
    if (effect === 'gap' && entry.kind === 'piece') void this.reread(this.state, id, entry);
  }

  private touch(id: string, tellsOfTools = false): void {
    this.tellsOfTools ||= tellsOfTools;
    this.patches.touch(id);
  }

  /** What comes meanwhile is in what is read, or shows a gap afterwards. */
  private async learn(id: string, tellsOfTools: boolean): Promise<void> {
    if (this.isLearning || this.audience.isEmpty) return;
    this.isLearning = true;
    const view = await this.source.view(this.groupId);
    this.isLearning = false;
    if (view === null || this.state !== null) return;
    const { streams, activities, readiness: _, messages: __, ...fields } = view;
    this.state = new GroupState(fields, livePartsOf(streams, activities));
    this.touch(id, tellsOfTools);
  }

  /** The text that is being read of a member belongs to a step that is over. */
  private outdate(member: string): void {
    const under = this.reading.get(member);
    if (under) under.over = true;
  }

  private async reread(state: GroupState, id: string, piece: Piece): Promise<void> {
    const under = this.reading.get(piece.bot);
    if (under) under.again = true;
    if (under || this.audience.isEmpty) return;
    const read = { again: false, over: false };
    this.reading.set(piece.bot, read);
    const text = await this.source.text(piece, this.groupId);
    this.reading.delete(piece.bot);
    if (this.state !== state) return; // a newer event brought its own texts
    if (text !== null && !read.over) {
      state.setText(piece.bot, text);
      this.touch(id);
    }
    if (read.again) await this.reread(state, id, piece);
  }
}
