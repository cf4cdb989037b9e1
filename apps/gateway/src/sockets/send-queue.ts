import type { Frame } from '../frames/frame';

/** The part of a `ws` socket that the queue writes to. */
export interface Outlet {
  send(data: Buffer, options: { binary: false; fin: boolean }, sent: (error?: Error) => void): void;
}

/** Bytes handed to the system at once; more waits here, where it can still be replaced. */
const IN_FLIGHT_BYTES = 256 * 1024;
/** A long frame goes in fragments, so that a slow but steady reader is seen to read. */
const FRAGMENT_BYTES = 64 * 1024;

interface Waiting {
  frame: Frame;
  dropped: boolean;
}

/**
 * Frames on their way to one client, in order. What a slow reader has not taken is merged: a patch is
 * dropped for anything newer of its group, pieces of one run are joined (wire.md §3).
 */
export class SendQueue {
  private waiting: Waiting[] = [];
  private readonly lastOfLane = new Map<string, Waiting>();
  private current: { bytes: Buffer; sent: number } | null = null;
  private inFlight = 0;
  private eventBytes = 0;
  private progressAt = 0;
  private closed = false;

  constructor(
    private readonly outlet: Outlet,
    private readonly now: () => number = Date.now,
  ) {}

  /** Bytes of events that wait; answers that were asked for do not count. */
  get waitingEventBytes(): number {
    return this.eventBytes;
  }

  /** Whether nothing was read for this long while something waited. */
  isStuck(ms: number): boolean {
    return !this.isIdle() && this.now() - this.progressAt > ms;
  }

  push(frame: Frame): void {
    if (this.closed) return;
    if (this.isIdle()) this.progressAt = this.now();
    // A snapshot: what is joined across it would be told twice.
    if (frame.divides !== undefined) this.lastOfLane.delete(frame.divides);
    this.append(frame.lane === undefined ? frame : this.merged(frame, frame.lane));
    this.pump();
  }

  /** Forgets what waits; nothing more is sent. */
  close(): void {
    this.closed = true;
    this.waiting = [];
    this.lastOfLane.clear();
    this.eventBytes = 0;
  }

  private isIdle(): boolean {
    return this.inFlight === 0 && this.current === null && this.waiting.length === 0;
  }

  private append(frame: Frame): void {
    const waiting = { frame, dropped: false };
    this.waiting.push(waiting);
    if (frame.lane === undefined) return;
    this.eventBytes += frame.bytes.length;
    this.lastOfLane.set(frame.lane, waiting);
  }

  /** The frame itself, or one that holds what waited as well; the older one goes either way. */
  private merged(frame: Frame, lane: string): Frame {
    const last = this.lastOfLane.get(lane);
    if (last === undefined) return frame;
    if (last.frame.replaceable) {
      this.drop(last);
      return frame;
    }
    const [before, piece] = [last.frame.piece, frame.piece];
    if (before === undefined || before.run !== piece?.run) return frame;
    this.drop(last);
    return piece.withText(before.text + piece.text);
  }

  private drop(waiting: Waiting): void {
    waiting.dropped = true;
    this.eventBytes -= waiting.frame.bytes.length;
  }

  private pump(): void {
    while (!this.closed && this.inFlight < IN_FLIGHT_BYTES) {
      this.current ??= this.next();
      if (this.current === null) return;
      this.sendFragment(this.current);
    }
  }

  private next(): { bytes: Buffer; sent: number } | null {
    for (;;) {
      const waiting = this.waiting.shift();
      if (waiting === undefined) return null;
      if (waiting.dropped) continue;
      const { lane, bytes } = waiting.frame;
      if (lane !== undefined) {
        this.eventBytes -= bytes.length;
        if (this.lastOfLane.get(lane) === waiting) this.lastOfLane.delete(lane);
      }
      return { bytes, sent: 0 };
    }
  }

  private sendFragment(current: { bytes: Buffer; sent: number }): void {
    const fragment = current.bytes.subarray(current.sent, current.sent + FRAGMENT_BYTES);
    current.sent += fragment.length;
    const fin = current.sent === current.bytes.length;
    if (fin) this.current = null;
    this.inFlight += fragment.length;
    this.outlet.send(fragment, { binary: false, fin }, (error) => {
      this.inFlight -= fragment.length;
      if (error) return;
      this.progressAt = this.now();
      this.pump();
    });
  }
}
