import type { Limits } from '@flowly/contract';
import { renewAlive, releaseRuns, runsToAbort, type Database, type Run } from '@flowly/store';
import type { Bot } from './bot';
import type { TurnSignals } from './turn';

interface LiveTurn {
  bot: Bot;
  run: Run;
  abort: AbortController;
  lost: AbortController;
  done: Promise<void>;
}

/**
 * The runs this process drives: keeps their claims alive, reads their stops, and lets go of those another attempt has
 * taken over (design rules 3 and 5).
 */
export class LiveTurns {
  private readonly turns = new Map<string, LiveTurn>();

  constructor(
    readonly owner: string,
    private readonly limits: Limits,
  ) {}

  get count(): number {
    return this.turns.size;
  }

  /** Claim of a run by this process from now on. */
  claim(): { owner: string; at: number; aliveUntil: number } {
    const at = Date.now();
    return { owner: this.owner, at, aliveUntil: at + this.limits.aliveMs };
  }

  /** Drives a claimed run; resolves when it is over or lost. */
  start(bot: Bot, run: Run, drive: (signals: TurnSignals) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    const lost = new AbortController();
    const lose = () => {
      lost.abort();
      abort.abort();
    };
    const key = keyOf(bot.botId, run.runId);
    const turn = { bot, run, abort, lost, done: Promise.resolve() };
    this.turns.set(key, turn);
    turn.done = drive({
      abort: abort.signal,
      stop: () => abort.abort(),
      lost: lost.signal,
      lose,
    }).finally(() => {
      if (this.turns.get(key) === turn) this.turns.delete(key);
    });
    if (run.abortRequested) abort.abort();
    return turn.done;
  }

  /** Wakes a turn whose stop is a row already. */
  wake(botId: string, runId: string): void {
    this.turns.get(keyOf(botId, runId))?.abort.abort();
  }

  /** Renews the claims, reads the stops; one statement each a database. */
  async renew(): Promise<void> {
    for (const [database, turns] of this.byDatabase()) {
      const alive = new Set(await this.renewIn(database));
      const stopped = new Set(runsToAbort(database, this.owner));
      for (const turn of turns) {
        if (!alive.has(turn.run.runId)) lose(turn);
        else if (stopped.has(turn.run.runId)) turn.abort.abort();
      }
    }
  }

  /** Gives every run away, so that another runner takes it up at once. */
  async handOver(): Promise<void> {
    for (const [database, turns] of this.byDatabase()) {
      turns.forEach(lose);
      await database.write(() => releaseRuns(database, this.owner));
    }
  }

  /** Resolves when no turn is left, or after `ms`. */
  async settled(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([
      Promise.allSettled([...this.turns.values()].map((turn) => turn.done)),
      late,
    ]);
    clearTimeout(timer);
  }

  private renewIn(database: Database): Promise<string[]> {
    const aliveUntil = Date.now() + this.limits.aliveMs;
    return database.write(() => renewAlive(database, this.owner, aliveUntil));
  }

  private byDatabase(): Map<Database, LiveTurn[]> {
    const found = new Map<Database, LiveTurn[]>();
    for (const turn of this.turns.values()) {
      const turns = found.get(turn.bot.database);
      if (turns) turns.push(turn);
      else found.set(turn.bot.database, [turn]);
    }
    return found;
  }
}

/** One that has just committed its end is no longer renewed either; losing it then changes nothing. */
function lose(turn: LiveTurn): void {
  turn.lost.abort();
  turn.abort.abort();
}

function keyOf(botId: string, runId: string): string {
  return JSON.stringify([botId, runId]);
}
