import type { WindowMove } from './group-window';

const MOST_APPENDED = 100;

/** What a socket has seen of a group: the sequence of its newest message, -1 for an empty group. */
export function baselineAfter(move: WindowMove): number {
  return move.lastSeq ?? -1;
}

/** Whether the messages an event adds continue what the receiver has (wire.md §5.3). */
export function continues(baseline: number | undefined, { appended }: WindowMove): boolean {
  if (baseline === undefined || appended === undefined || appended.length > MOST_APPENDED)
    return false;
  return appended[0]?.seq === baseline + 1;
}
