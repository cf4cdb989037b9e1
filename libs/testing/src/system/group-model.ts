import type { GroupEvent, GroupMessage, GroupPatch, GroupView } from '@flowly/contract';

/**
 * What a client knows of one group when it only applies `profile.room` events, in either mode
 * (wire.md §5.3). It never asks anything: a gap in the sequence is noted in `gaps`.
 */
export class GroupModel {
  /** The newest snapshot without its messages, with the patches since. */
  view: Omit<GroupView, 'messages'> | undefined;
  readonly messages: GroupMessage[] = [];
  /** Sequences after which messages were missed. */
  readonly gaps: number[] = [];
  /** Longest live text seen of each member. */
  readonly live = new Map<string, string>();
  deleted = false;

  /** @param baseline sequence of the newest message known before the first event, -1 for none */
  constructor(
    readonly groupId: string,
    private baseline = -1,
  ) {}

  /** What a client knows that has just read the group. */
  static of({ messages = [], ...view }: GroupView): GroupModel {
    const model = new GroupModel(view.id, view.messageCount - 1);
    model.view = view;
    model.messages.push(...messages);
    return model;
  }

  /** Takes the history that was asked for because of a gap; what the events bring again is known then. */
  fill(history: readonly GroupMessage[]): void {
    this.messages.splice(0, this.messages.length, ...history);
    this.gaps.length = 0;
  }

  get lastSeq(): number {
    return this.messages.at(-1)?.seq ?? this.baseline;
  }

  /** Applies an event; one of another group is ignored. */
  apply(event: GroupEvent): void {
    if (event.roomId !== this.groupId) return;
    if (event.type === 'deleted') this.deleted = true;
    if (event.patch) this.#patch(event.patch);
    if (event.room) this.#snapshot(event, event.room);
  }

  #patch(patch: GroupPatch): void {
    for (const [member, text] of Object.entries(patch.streams)) this.live.set(member, text);
    if (this.view) this.view = { ...this.view, ...patch };
  }

  #snapshot({ appended = [], lastSeq }: GroupEvent, { messages, ...room }: GroupView): void {
    this.view = room;
    for (const message of messages ?? appended) {
      if (message.seq > this.lastSeq + 1) this.gaps.push(this.lastSeq);
      if (message.seq > this.lastSeq) this.messages.push(message);
    }
    if (lastSeq !== undefined && lastSeq > this.lastSeq) this.gaps.push(this.lastSeq);
  }
}
