import type { LiveRecords, LiveRun, PieceOutcome } from '@flowly/bus';

/** Why the record takes nothing more from this attempt. */
export type Refusal = 'stale' | 'ended';

/**
 * Brings a run's text to the live record: the first piece at once, then one write per interval (design rule 4).
 * A record that Redis lost is written anew; a frozen one is left alone until it thaws.
 */
export class PiecePump {
  /** All text given so far. */
  text = '';
  private sent = 0;
  private refused = false;
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> | null = null;
  private begun: Promise<void> | null = null;
  private lastWrite = -Infinity;

  constructor(
    private readonly live: LiveRecords,
    private readonly run: LiveRun,
    private readonly everyMs: number,
    /** Sees that what must come before the first piece is out: the answer to the call that began this run. */
    private readonly begin: () => Promise<void>,
    private readonly onRefused: (refusal: Refusal) => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  push(piece: string): void {
    this.text += piece;
    if (this.timer || this.writing || this.refused) return;
    const wait = this.lastWrite + this.everyMs - performance.now();
    if (wait <= 0) this.write();
    else this.timer = setTimeout(() => this.write(), wait);
  }

  /** Everything given is in the record, unless it takes nothing more. */
  async finish(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    await this.writing;
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.sent < this.text.length && !this.refused) await this.send(this.text.length);
  }

  private write(): void {
    this.timer = null;
    this.writing = this.send(wholeCharacters(this.text)).finally(() => {
      this.writing = null;
      if (this.sent < wholeCharacters(this.text) && !this.refused && !this.timer) {
        this.timer = setTimeout(() => this.write(), this.everyMs);
      }
    });
  }

  private async send(end: number): Promise<void> {
    if (end <= this.sent) return;
    try {
      await (this.begun ??= this.begin());
      this.lastWrite = performance.now();
      await this.sendUpTo(end);
    } catch (error) {
      this.onError(error);
    }
  }

  private async sendUpTo(end: number): Promise<void> {
    const outcome = await this.live.addPiece(this.run, this.sent, this.text.slice(this.sent, end));
    const answer = isOutOfStep(outcome) ? await this.restore(end) : outcome;
    if (!('refused' in answer)) this.sent = end;
    else if (answer.refused === 'stale' || answer.refused === 'ended') {
      this.refused = true;
      this.onRefused(answer.refused);
    }
  }

  private restore(end: number) {
    return this.live.restore(this.run, this.text.slice(0, end));
  }
}

/**
 * The record has less than was sent (Redis lost it) or more (a write whose answer was lost with its connection went
 * out twice): either way it is written anew.
 */
function isOutOfStep(outcome: PieceOutcome): boolean {
  return 'refused' in outcome && (outcome.refused === 'gap' || outcome.refused === 'old');
}

/** Length of the text without a first half of a surrogate pair at its end. */
function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}
