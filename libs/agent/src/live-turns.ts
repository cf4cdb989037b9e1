import type { Limits } from '@flowly/contract';
import { eachByItself } from '@flowly/delivery';
import {
  releaseRun,
  releaseRuns,
  renewAlive,
  runsToAbort,
  type Database,
  type Run,
} from '@flowly/store';
import type { Bot } from './bot';
import type { TurnSignals } from './turn-context';

interface LiveTurn {
  bot: Bot;
  run: Run;
  abort: AbortController;
  lost: AbortController;
  /** Called when a row the turn may wait for was decided. */
  listeners: Set<() => void>;
  done: Promise<void>;
}

/**
 * The runs this process drives: keeps their claims alive, reads their stops, and lets go of those another attempt has
 * taken over (design rules 3 and 5).
 */
export class LiveTurns {
  private readonly turns = new Map<string, LiveTurn>();
  /** Turns whose driving failed: their claims are given up, so that they are taken up again. */
  private readonly failed = new Set<LiveTurn>();

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

  /** Drives a claimed run; resolves when it is over or lost. @throws what `drive` throws */
  start(bot: Bot, run: Run, drive: (signals: TurnSignals) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    const lost = new AbortController();
    const key = keyOf(bot.botId, run.runId);
    const listeners = new Set<() => void>();
    const turn: LiveTurn = { bot, run, abort, lost, listeners, done: Promise.resolve() };
    const earlier = this.turns.get(key);
    // Its claim lapsed while this process stood still, and was had again by this one.
    if (earlier) lose(earlier);
    this.turns.set(key, turn);
    // Before it is driven, so that no model is asked.
    if (run.abortRequested) abort.abort();
    turn.done = drive({
      abort: abort.signal,
      stop: () => abort.abort(),
      lost: lost.signal,
      lose: () => lose(turn),
      onDecision: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    })
      .catch((error: unknown) => {
        this.failed.add(turn);
        throw error;
      })
      .finally(() => {
        if (this.turns.get(key) === turn) this.turns.delete(key);
      });
    return turn.done;
  }

  /** Wakes a turn whose stop is a row already. */
  wake(botId: string, runId: string): void {
    this.turns.get(keyOf(botId, runId))?.abort.abort();
  }

  /** Lets a turn look at the row it waits for. */
  notice(botId: string, runId: string): void {
    for (const listener of this.turns.get(keyOf(botId, runId))?.listeners ?? []) listener();
  }

  /**
   * Renews the claims, reads the stops; one statement each a database. A database that is held by another process
   * costs the others nothing.
   */
  async renew(): Promise<void> {
    const failed = byDatabase(this.failed);
    const driven = byDatabase(this.turns.values());
    await eachByItself(failed, ([database, turns]) => this.giveUp(database, turns));
    await eachByItself(driven, ([database, turns]) => this.renewIn(database, turns));
  }

  /** Gives every run away, so that another runner takes it up at once. */
  async handOver(): Promise<void> {
    const driven = byDatabase(this.turns.values());
    for (const turn of this.turns.values()) lose(turn);
    await eachByItself(driven.keys(), (database) =>
      database.write(() => releaseRuns(database, this.owner)),
    );
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

  private async renewIn(database: Database, turns: readonly LiveTurn[]): Promise<void> {
    const { owner, limits } = this;
    const alive = new Set(
      await database.tidy(() => renewAlive(database, owner, Date.now() + limits.aliveMs)),
    );
    const stopped = new Set(runsToAbort(database, owner));
    for (const turn of turns) {
      if (!alive.has(turn.run.runId)) lose(turn);
      else if (stopped.has(turn.run.runId)) turn.abort.abort();
    }
  }

  private async giveUp(database: Database, turns: readonly LiveTurn[]): Promise<void> {
    await database.write(() => {
      for (const { run } of turns) releaseRun(database, run.runId, run.epoch);
    });
    for (const turn of turns) this.failed.delete(turn);
  }
}

function byDatabase(turns: Iterable<LiveTurn>): Map<Database, LiveTurn[]> {
  const found = new Map<Database, LiveTurn[]>();
  for (const turn of turns) {
    const known = found.get(turn.bot.database);
    if (known) known.push(turn);
    else found.set(turn.bot.database, [turn]);
  }
  return found;
}

/** One that has just committed its end is no longer renewed either; losing it then changes nothing. */
function lose(turn: LiveTurn): void {
  turn.lost.abort();
  turn.abort.abort();
}

function keyOf(botId: string, runId: string): string {
  return JSON.stringify([botId, runId]);
}
