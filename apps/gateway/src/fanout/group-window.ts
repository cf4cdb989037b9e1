import type { GroupMessage } from '@flowly/contract';

/** The part of a group event that moves the live window. */
export interface WindowMove {
  appended?: GroupMessage[] | undefined;
  windowFirstSeq?: number | undefined;
  /** Absent for a group without messages. */
  lastSeq?: number | undefined;
}

/** A group's live window as it follows from its events; for clients that want it in each of them. */
export class GroupWindow {
  private constructor(private readonly messages: readonly GroupMessage[]) {}

  static of(messages: readonly GroupMessage[]): GroupWindow {
    return new GroupWindow(messages);
  }

  /** The window after an event; null when messages are missing for it. */
  static after(before: GroupWindow | null, move: WindowMove): GroupWindow | null {
    const { lastSeq, windowFirstSeq = 0, appended = [] } = move;
    if (lastSeq === undefined) return new GroupWindow([]);
    const known = before?.messages ?? [];
    const newest = known.at(-1)?.seq ?? -1;
    const messages = [...known, ...appended.filter(({ seq }) => seq > newest)].filter(
      ({ seq }) => seq >= windowFirstSeq,
    );
    return isWhole(messages, windowFirstSeq, lastSeq) ? new GroupWindow(messages) : null;
  }

  /** The messages an event shows; the window may be ahead of it. */
  view({ lastSeq = -1 }: WindowMove): GroupMessage[] {
    return this.messages.filter(({ seq }) => seq <= lastSeq);
  }
}

/** Sequences of a group have no holes, so the ends tell. */
function isWhole(messages: readonly GroupMessage[], first: number, last: number): boolean {
  return (
    messages[0]?.seq === first &&
    (messages.at(-1)?.seq ?? -1) >= last &&
    (messages.at(-1)?.seq ?? 0) - first === messages.length - 1
  );
}
