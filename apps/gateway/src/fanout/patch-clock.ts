/** When a group's patches go: the first change at once, then at most one in so many milliseconds. */
export class PatchClock {
  private lastAt = -Infinity;
  private timer: NodeJS.Timeout | null = null;
  private newest = '';

  /** @param send gets the id of the newest entry inside */
  constructor(
    private readonly patchMs: number,
    private readonly send: (id: string) => void,
  ) {}

  touch(id: string): void {
    this.newest = id;
    if (this.timer) return;
    const wait = this.lastAt + this.patchMs - performance.now();
    if (wait <= 0) this.fire();
    else this.timer = setTimeout(() => this.fire(), wait);
  }

  /** What was to be sent has gone with something newer. */
  cancel(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private fire(): void {
    this.timer = null;
    this.lastAt = performance.now();
    this.send(this.newest);
  }
}
