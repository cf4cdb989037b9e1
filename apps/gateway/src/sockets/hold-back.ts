import { compareIds } from '@flowly/bus';
import type { Frame } from '../frames/frame';

/** Stands for every group at once. */
export const ALL_GROUPS = 'groups';

const GROUP = 'group:';

export function groupLane(groupId: string): string {
  return `${GROUP}${groupId}`;
}

interface Held {
  lane: string;
  id: string;
  frame: Frame;
}

/**
 * Keeps the events of a group or a conversation back from the moment a snapshot of it is asked for until the snapshot
 * is there, so that those inside come before it and those after come after it (design rule 4).
 */
export class HoldBack {
  private readonly open = new Map<string, number>();
  private held: Held[] = [];

  constructor(private readonly send: (frame: Frame) => void) {}

  begin(lane: string): void {
    this.open.set(lane, (this.open.get(lane) ?? 0) + 1);
  }

  /** Sends an event of that lane, or an answer that comes after event `id` of it, when it may go. */
  pass(lane: string, id: string, frame: Frame): void {
    if (!this.isHeld(lane)) return this.send(frame);
    const last = this.held.at(-1);
    if (last?.lane === lane && last.frame.replaceable) this.held.pop();
    this.held.push({ lane, id, frame });
  }

  /** The snapshot is there: what it holds goes first, then itself, then what nobody holds any more. */
  end(lane: string, after: string, snapshot: Frame): void {
    this.release((held) => covers(lane, held.lane) && compareIds(held.id, after) <= 0);
    this.send(snapshot);
    const left = (this.open.get(lane) ?? 1) - 1;
    if (left > 0) this.open.set(lane, left);
    else this.open.delete(lane);
    this.release((held) => !this.isHeld(held.lane));
  }

  private isHeld(lane: string): boolean {
    return this.open.has(lane) || (this.open.has(ALL_GROUPS) && covers(ALL_GROUPS, lane));
  }

  private release(which: (held: Held) => boolean): void {
    const going = this.held.filter(which);
    this.held = this.held.filter((held) => !going.includes(held));
    for (const { frame } of going) this.send(frame);
  }
}

function covers(hold: string, lane: string): boolean {
  return hold === lane || (hold === ALL_GROUPS && lane.startsWith(GROUP));
}
