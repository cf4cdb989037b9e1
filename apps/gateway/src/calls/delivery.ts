import { setTimeout as delay } from 'node:timers/promises';
import { ContractError, type Command } from '@flowly/contract';
import type { QueueName, Queues } from '@flowly/bus';

/** How long a last look at the queue may take when the time of a command is over. */
const WITHDRAWAL_MS = 500;

/**
 * One command on its way into a queue: added again with the same id while there is neither its job nor
 * its answer, taken back at the end (design rule 2).
 */
export class Delivery {
  private readonly over = new AbortController();
  /** How often it may have arrived: once taken back, a command that was added once never runs. */
  private added = 0;

  constructor(
    private readonly queues: Queues,
    private readonly queue: QueueName,
    private readonly id: string,
    private readonly readdMs: number,
    private readonly makeJob: () => Promise<Command>,
  ) {}

  /** Delivers until the deadline, or until it is stopped. */
  async until(deadline: number): Promise<void> {
    void this.keepAdding();
    await this.pause(deadline - Date.now());
    this.over.abort();
  }

  /** Takes the command back. @returns the error with which it ends: whether a worker may have had it */
  async takeBack(): Promise<ContractError> {
    return (await this.isTakenBack())
      ? new ContractError('UNAVAILABLE', 'No worker took this call.')
      : new ContractError('PROFILE_RPC_TIMEOUT', 'This call takes longer than it may; it goes on.');
  }

  /** The answer is there. */
  stop(): void {
    this.over.abort();
  }

  private async keepAdding(): Promise<void> {
    while (!this.over.signal.aborted) {
      await this.addIfMissing();
      await this.pause(this.readdMs);
    }
  }

  /** A failure is not told: the queue's connection reports it, and this is done again. */
  private async addIfMissing(): Promise<void> {
    if (!this.queues.connected) return;
    try {
      if (this.added > 0 && (await this.queues.has(this.queue, this.id))) return;
      const data = await this.makeJob();
      if (this.over.signal.aborted) return;
      this.added += 1;
      await this.queues.add(this.queue, [{ id: this.id, data }]);
    } catch {
      return;
    }
  }

  private async isTakenBack(): Promise<boolean> {
    if (this.added === 0) return true;
    const last = this.queues.withdraw(this.queue, this.id).catch(() => 'unknown' as const);
    const outcome = await Promise.race([last, delay(WITHDRAWAL_MS, 'unknown' as const)]);
    return outcome === 'withdrawn' && this.added === 1;
  }

  private async pause(ms: number): Promise<void> {
    try {
      await delay(ms, undefined, { signal: this.over.signal, ref: false });
    } catch {
      return; // it is over
    }
  }
}
