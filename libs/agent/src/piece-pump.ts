import type { LiveRecords, LiveRun, PieceOutcome } from '@flowly/bus';
import type { BotStreamEvent, LiveCall } from '@flowly/contract';
import { ToldSteps, type CallTold } from './told-steps';

/** Why the record takes nothing more from this attempt. */
export type Refusal = 'stale' | 'ended';

/** As many as a group shows of a member. */
const MOST_CALLS = 8;

/**
 * Brings what a run says and does to the live record: the first piece at once, then one write per interval; a step of
 * its tools when all before it is there (design rule 4). A record that Redis lost is written anew; a frozen one is left alone until it thaws.
 */
export class PiecePump {
  /** All text given since the last step. */
  text = '';
  /** The newest tool calls, oldest first. */
  calls: LiveCall[] = [];
  private sent = 0;
  private readonly told = new ToldSteps();
  private refused = false;
  /** Writes go one after the other, so that none is made of what another has changed meanwhile. */
  private lastWriter: Promise<unknown> = Promise.resolve();
  private keeping = false;
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

  /** Tools follow: the text so far is over. @param events tell it in a conversation */
  async step(events: readonly BotStreamEvent[]): Promise<void> {
    await this.finish();
    this.text = '';
    this.sent = 0;
    const before = this.told.count;
    await this.note(() => this.live.addStep(this.run, events, before));
    this.told.count = before + 1;
  }

  /** A tool call has begun or ended. @param told in a conversation */
  async call(call: LiveCall, told: CallTold): Promise<void> {
    this.calls = [...this.calls.filter(({ id }) => id !== call.id), call].slice(-MOST_CALLS);
    const before = this.told.count;
    const noted = {
      call,
      calls: this.calls,
      steps: { before, after: before + (told.endsStep ? 1 : 0) },
      progress: told.progress,
      forget: this.told.surplus(told),
    };
    await this.note(() => this.live.addCall(this.run, noted, told.events));
    this.told.note(told);
  }

  /** Writes the record anew if Redis has lost it while there was nothing to say. Never rejects. */
  async keep(): Promise<void> {
    if (this.refused || this.keeping || this.saidNothing) return;
    this.keeping = true;
    try {
      await this.inTurn(async () => {
        if (!(await this.live.isThere(this.run))) this.heed(await this.restore(this.sent));
      });
    } catch (error) {
      this.onError(error);
    } finally {
      this.keeping = false;
    }
  }

  /** What a frozen record refuses is not told again: it thaws only when a stop failed. */
  private async note(write: () => Promise<PieceOutcome>): Promise<void> {
    if (this.refused) return;
    try {
      await (this.begun ??= this.begin());
      await this.inTurn(async () => {
        const outcome = await write();
        if (!isLost(outcome)) return this.heed(outcome);
        this.heed(await this.restore(this.sent));
        this.heed(await write());
      });
    } catch (error) {
      this.onError(error);
    }
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
      await this.inTurn(() => this.sendUpTo(end));
    } catch (error) {
      this.onError(error);
    }
  }

  private async sendUpTo(end: number): Promise<void> {
    this.lastWrite = performance.now();
    const piece = this.text.slice(this.sent, end);
    const outcome = await this.live.addPiece(this.run, this.sent, piece, this.told.count);
    const answer = isOutOfStep(outcome) ? await this.restore(end) : outcome;
    if (!('refused' in answer)) this.sent = end;
    else this.heed(answer);
  }

  private heed(outcome: PieceOutcome): void {
    if (!('refused' in outcome)) return;
    if (outcome.refused !== 'stale' && outcome.refused !== 'ended') return;
    this.refused = true;
    this.onRefused(outcome.refused);
  }

  private restore(end: number) {
    const { run, calls, told: steps } = this;
    return this.live.restore(run, { text: this.text.slice(0, end), calls, steps });
  }

  private get saidNothing(): boolean {
    return this.sent === 0 && this.calls.length === 0 && this.told.count === 0;
  }

  private inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = this.lastWriter.then(write);
    this.lastWriter = turn.catch(() => undefined);
    return turn;
  }
}

/**
 * The record has less than was sent (Redis lost it) or more (a write whose answer was lost with its connection went
 * out twice): either way it is written anew.
 */
function isOutOfStep(outcome: PieceOutcome): boolean {
  return isLost(outcome) || ('refused' in outcome && outcome.refused === 'old');
}

function isLost(outcome: PieceOutcome): boolean {
  return 'refused' in outcome && outcome.refused === 'gap';
}

/** Length of the text without a first half of a surrogate pair at its end. */
function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}
