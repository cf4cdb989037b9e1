/** A worker whose concurrency can be changed while it runs. */
interface Adjustable {
  concurrency: number;
}

/** What a turn at work holds. */
export interface Slot {
  /** Gives it back while the turn waits; the result takes it again, also when that is one too many for a while. */
  lend(): () => void;
  release(): void;
}

/**
 * How many turns one runner has at work. A turn that a command starts takes its slot from the worker of turns, so
 * that both together stay within the bound; a turn that waits gives its slot back (design rule 3).
 */
export class TurnSlots {
  private direct = 0;
  /** Turns of the worker that wait: their jobs count there although they are not at work. */
  private waiting = 0;
  private worker: Adjustable | null = null;

  constructor(private readonly total: number) {}

  /** The worker whose concurrency is the rest. */
  share(worker: Adjustable): void {
    this.worker = worker;
    this.adjust();
  }

  /** A slot for a turn beside the queue; null when all are taken. */
  take(): Slot | null {
    // One always stays with the queue, so that what waits there is never starved.
    if (this.direct >= this.total - 1) return null;
    this.move({ direct: 1 });
    return {
      lend: () => this.moved({ direct: -1 }),
      release: () => this.move({ direct: -1 }),
    };
  }

  /** The slot of a turn whose job the worker works on. */
  ofJob(): Slot {
    return { lend: () => this.moved({ waiting: 1 }), release: () => undefined };
  }

  private moved(by: { direct?: number; waiting?: number }): () => void {
    const { direct = 0, waiting = 0 } = by;
    this.move(by);
    return () => this.move({ direct: -direct, waiting: -waiting });
  }

  private move({ direct = 0, waiting = 0 }: { direct?: number; waiting?: number }): void {
    this.direct += direct;
    this.waiting += waiting;
    this.adjust();
  }

  private adjust(): void {
    if (!this.worker) return;
    this.worker.concurrency = Math.max(1, this.total - this.direct) + this.waiting;
  }
}
