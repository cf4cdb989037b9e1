/** Work of one group in order: at once as long as nothing before it waits for an answer. */
export class TaskLine {
  private busy: Promise<void> | null = null;
  private readonly queued: (() => void | Promise<void>)[] = [];

  /** @param task must not throw */
  run(task: () => void | Promise<void>): void {
    if (this.busy) {
      this.queued.push(task);
      return;
    }
    const promise = task();
    if (promise) this.busy = this.drainAfter(promise);
  }

  private async drainAfter(first: Promise<void>): Promise<void> {
    await first;
    for (let task = this.queued.shift(); task; task = this.queued.shift()) await task();
    this.busy = null;
  }
}
