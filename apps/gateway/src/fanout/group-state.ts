import {
  activitiesOf,
  type Activity,
  type GroupPatch,
  type LiveActivity,
  type LiveCall,
  type LiveStep,
  type Piece,
  type StoredGroupView,
} from '@flowly/contract';

/** What is told of a member at work between two commits. */
export type LiveEntry = Piece | LiveActivity | LiveStep;

/** What an entry did: moved what is shown, said nothing new, or does not continue what is known. */
export type LiveEffect = 'moved' | 'nothing' | 'gap';

/** Texts and tool calls of the active members at one moment. */
export interface LiveParts {
  texts: Record<string, string>;
  /** Oldest call first. */
  calls: Record<string, readonly LiveCall[]>;
}

/** A group as this gateway shows it between two events: the fields of its last one, the live texts and tool calls. */
export class GroupState {
  private readonly texts = new Map<string, string>();
  private readonly calls = new Map<string, Map<string, LiveCall>>();

  /** @param live what the active members had when the fields were so */
  constructor(
    readonly fields: StoredGroupView,
    live: LiveParts,
  ) {
    for (const [member, text] of Object.entries(live.texts)) this.texts.set(member, text);
    for (const [member, calls] of Object.entries(live.calls))
      this.calls.set(member, new Map(calls.map((call) => [call.id, call])));
  }

  isActive(member: string): boolean {
    return this.fields.activeProfiles.includes(member);
  }

  /** What a queued member does waits for the event that says it has begun, so that clients learn of it in order. */
  isShown(member: string): boolean {
    return this.fields.runState?.members[member]?.state !== 'queued';
  }

  /** Which kinds of news that member has that could not be shown yet. */
  waitingOf(member: string | undefined): { text: boolean; calls: boolean } {
    if (member === undefined || this.isShown(member)) return { text: false, calls: false };
    return { text: this.texts.has(member), calls: this.calls.has(member) };
  }

  take(entry: LiveEntry): LiveEffect {
    switch (entry.kind) {
      case 'piece':
        return this.addPiece(entry.bot, entry.offset, entry.text);
      case 'activity':
        return this.addCall(entry.bot, entry.call);
      case 'step':
        return this.beginAnew(entry.bot, entry.anew === true);
    }
  }

  setText(member: string, text: string): void {
    this.texts.set(member, text);
  }

  /** Active member → its text so far, in member order; only non-empty ones. */
  streams(): Record<string, string> {
    const streams: Record<string, string> = Object.create(null);
    for (const member of this.shownMembers) {
      const text = this.texts.get(member);
      if (text) streams[member] = text;
    }
    return streams;
  }

  activities(): Activity[] {
    return activitiesOf(
      this.shownMembers.map((member) => [member, [...(this.calls.get(member)?.values() ?? [])]]),
    );
  }

  patch(): GroupPatch {
    const { running, activeProfiles, attentions, needsUser } = this.fields;
    return {
      running,
      activeProfiles,
      streams: this.streams(),
      activities: this.activities(),
      attentions,
      needsUser,
    };
  }

  private get shownMembers(): string[] {
    return this.fields.activeProfiles.filter((member) => this.isShown(member));
  }

  /** The piece that starts a text replaces it: an earlier attempt is over, or the record was written anew. */
  private addPiece(member: string, offset: number, text: string): LiveEffect {
    const known = this.texts.get(member) ?? '';
    if (
      known.slice(offset, offset + text.length) === text &&
      offset + text.length <= known.length
    ) {
      return 'nothing';
    }
    if (offset !== 0 && offset !== known.length) return 'gap';
    this.texts.set(member, offset === 0 ? text : known + text);
    return 'moved';
  }

  /** A call that is over does not begin again: what was read may be ahead of what is told. */
  private addCall(member: string, call: LiveCall): LiveEffect {
    const calls = this.calls.get(member) ?? new Map<string, LiveCall>();
    const known = calls.get(call.id);
    if (known?.startedAt === call.startedAt && known.state !== 'running') return 'nothing';
    this.calls.set(member, calls.set(call.id, call));
    return 'moved';
  }

  private beginAnew(member: string, withoutCalls: boolean): LiveEffect {
    const hadText = this.texts.delete(member);
    const hadCalls = withoutCalls && this.calls.delete(member);
    return hadText || hadCalls ? 'moved' : 'nothing';
  }
}

/** The live parts of a group as its snapshot shows them. */
export function livePartsOf(streams: Record<string, string>, activities: Activity[]): LiveParts {
  const calls: Record<string, LiveCall[]> = Object.create(null);
  for (const { profile, toolName: name, ...call } of activities)
    (calls[profile] ??= []).push({ name, ...call });
  return { texts: streams, calls };
}
