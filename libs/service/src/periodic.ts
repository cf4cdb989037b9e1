/** Something done again and again, never twice at once; a failure is told and does not end it. */
export class Periodic {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> | null = null;
  private stopped = false;

  constructor(
    private readonly everyMs: number,
    private readonly work: () => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Does it once now, then every so often. */
  start(): void {
    this.running = this.once();
  }

  /** Ends it and waits for work under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  private async once(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      this.onError(error);
    }
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.once();
    }, this.everyMs);
  }
}
