/**
 * Questions of bots, put to a person one after the other. One that was closed elsewhere is taken off the terminal: an
 * open prompt would keep the process, or stand in the way of the next.
 */
export class Prompts {
  private readonly open = new Map<string, AbortController>();
  private last: Promise<void> = Promise.resolve();

  /** @param failed hears why a question was not answered, unless it was closed */
  constructor(private readonly failed: (error: unknown) => void) {}

  /** Puts a question in its turn, once. @param put shows it until its answer is sent or the signal comes */
  add(id: string, put: (signal: AbortSignal) => Promise<void>): void {
    if (this.open.has(id)) return;
    const closing = new AbortController();
    this.open.set(id, closing);
    this.last = this.last.then(() => this.show(closing.signal, put));
  }

  /** Closes the questions that are not, or no longer, wanted. */
  closeWhere(isOver: (id: string) => boolean): void {
    for (const [id, closing] of this.open) if (isOver(id)) closing.abort();
  }

  private async show(
    signal: AbortSignal,
    put: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (signal.aborted) return;
    try {
      await put(signal);
    } catch (error) {
      if (!signal.aborted) this.failed(error);
    }
  }
}
