/** Runs whose text is known here; more than can be at work at once. */
const MOST_RUNS = 10_000;

/** Makes of the pieces of each run one text without gap or repeat. */
export class PieceTracker {
  private readonly lengths = new Map<string, number>();

  /** The part of a piece that was not handed on yet; empty when all of it was. */
  fresh(run: string, offset: number, text: string): string {
    const known = this.lengths.get(run);
    const end = offset + text.length;
    if (known === undefined || offset > known) return this.set(run, end, text);
    if (end <= known) return '';
    return this.set(run, end, text.slice(known - offset));
  }

  /** What was sent of the run is over: its text begins anew (a tool step, a new attempt, the end). */
  restart(run: string): void {
    this.lengths.delete(run);
  }

  clear(): void {
    this.lengths.clear();
  }

  private set(run: string, length: number, text: string): string {
    this.lengths.delete(run);
    this.lengths.set(run, length);
    if (this.lengths.size > MOST_RUNS) {
      const [oldest] = this.lengths.keys();
      if (oldest !== undefined) this.lengths.delete(oldest);
    }
    return text;
  }
}
