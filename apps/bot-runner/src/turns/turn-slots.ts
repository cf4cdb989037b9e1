/** A worker whose concurrency can be changed while it runs. */
interface Adjustable {
  concurrency: number;
}

/**
 * How many turns one runner has at work. A turn that a command starts takes its slot from the worker of turns, so
 * that both together stay within the bound (design rule 3).
 */
export class TurnSlots {
  private direct = 0;
  private worker: Adjustable | null = null;

  constructor(private readonly total: number) {}

  /** The worker whose concurrency is the rest. */
  share(worker: Adjustable): void {
    this.worker = worker;
    this.adjust();
  }

  /** A slot for a turn beside the queue; null when all are taken. Call the result to give it back. */
  take(): (() => void) | null {
    // One always stays with the queue, so that what waits there is never starved.
    if (this.direct >= this.total - 1) return null;
    this.direct++;
    this.adjust();
    return () => {
      this.direct--;
      this.adjust();
    };
  }

  private adjust(): void {
    if (this.worker) this.worker.concurrency = Math.max(1, this.total - this.direct);
  }
}
