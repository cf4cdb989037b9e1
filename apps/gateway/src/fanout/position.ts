import { compareIds } from '@flowly/bus';

/** How far this gateway has handed events on; answers wait here for the events they follow from. */
export class Position {
  private waiting: { id: string; resolve: () => void }[] = [];
  private at = '0-0';

  get current(): string {
    return this.at;
  }

  advance(id: string): void {
    this.at = id;
    if (this.waiting.length === 0) return;
    const reached = this.waiting.filter((waiter) => this.isPast(waiter.id));
    this.waiting = this.waiting.filter((waiter) => !reached.includes(waiter));
    for (const { resolve } of reached) resolve();
  }

  /** Resolves when the event was handed on; an empty id means none. */
  async reached(id: string): Promise<void> {
    if (this.isPast(id)) return;
    await new Promise<void>((resolve) => this.waiting.push({ id, resolve }));
  }

  /** The events that answers wait for will never come: Redis lost them. */
  giveUp(): void {
    for (const { resolve } of this.waiting.splice(0)) resolve();
  }

  private isPast(id: string): boolean {
    return id === '' || compareIds(id, this.at) <= 0;
  }
}
