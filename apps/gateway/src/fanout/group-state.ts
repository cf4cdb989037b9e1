import type { GroupPatch, StoredGroupView } from '@flowly/contract';

/** What a piece did: moved the text, said nothing new, or does not continue what is known. */
export type PieceEffect = 'moved' | 'nothing' | 'gap';

/** A group as this gateway shows it between two events: the fields of its last one and the live texts. */
export class GroupState {
  private readonly texts = new Map<string, string>();

  /** @param texts of the active members when the fields were so */
  constructor(
    readonly fields: StoredGroupView,
    texts: Record<string, string>,
  ) {
    for (const [member, text] of Object.entries(texts)) this.texts.set(member, text);
  }

  isActive(member: string): boolean {
    return this.fields.activeProfiles.includes(member);
  }

  /** A queued member's text waits for the event that says it has begun, so that clients learn of it in order. */
  isShown(member: string): boolean {
    return this.fields.runState?.members[member]?.state !== 'queued';
  }

  /** Whether that member has text that could not be shown yet. */
  hasWaiting(member: string | undefined): boolean {
    return member !== undefined && this.texts.has(member) && !this.isShown(member);
  }

  /** The piece that starts a text replaces it: an earlier attempt is over, or the record was written anew. */
  addPiece(member: string, offset: number, text: string): PieceEffect {
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

  setText(member: string, text: string): void {
    this.texts.set(member, text);
  }

  /** Active member → its text so far, in member order; only non-empty ones. */
  streams(): Record<string, string> {
    const streams: Record<string, string> = Object.create(null);
    for (const member of this.fields.activeProfiles) {
      const text = this.texts.get(member);
      if (text && this.isShown(member)) streams[member] = text;
    }
    return streams;
  }

  patch(): GroupPatch {
    const { running, activeProfiles, attentions, needsUser } = this.fields;
    return {
      running,
      activeProfiles,
      streams: this.streams(),
      activities: [],
      attentions,
      needsUser,
    };
  }
}
