import { setTimeout as delay } from 'node:timers/promises';
import { jobId } from '@flowly/bus';
import { ContractError } from '@flowly/contract';
import { addBotTurn } from '@flowly/delivery';
import { endRun, endWaitingRun, findRun, nextOpenRun, type Run } from '@flowly/store';
import type { Bot } from './bot';
import { cancelRequests } from './requests';
import { announceEnd, emptyTerminal, endStateOf, type Terminal } from './terminal';

/**
 * Ends a run that this process drives: receipt, answer and what tells of it are one commit, which also hands on
 * the session's next run (design rule 3).
 * @returns false when an attempt with a newer epoch drives the run: then nothing was changed
 */
export async function commitEnd(bot: Bot, run: Run, terminal: Terminal): Promise<boolean> {
  return bot.database.write(() => endDriven(bot, run, terminal));
}

/** `commitEnd` inside a transaction. */
export function endDriven(bot: Bot, run: Run, terminal: Terminal): boolean {
  const end = asAsked(bot, run, terminal);
  const ended = endRun(bot.database, {
    runId: run.runId,
    epoch: run.epoch,
    state: endStateOf(end),
    outcome: end,
    message: end.state === 'final' ? { ...end, toolCalls: [] } : null,
    at: end.completedAt,
  });
  if (!ended) return false;
  cancelRequests(bot, run, end.completedAt);
  announceEnd(bot, run, end);
  handOn(bot, run.sessionKey);
  return true;
}

/** An abort that was answered holds, also when its wake came too late for the model (design rule 5). */
function asAsked(bot: Bot, run: Run, terminal: Terminal): Terminal {
  if (!findRun(bot.database, run.runId)?.abortRequested) return terminal;
  const { errorCode: _code, errorMessage: _message, ...said } = terminal;
  return { ...said, state: 'final', aborted: true };
}

/**
 * `commitEnd` for an answer that may not be lost: what cannot be written now (a full disk, a file that is held) is
 * tried again until it can or the run is lost, and no model is asked anew.
 */
export async function commitWhenPossible(
  bot: Bot,
  run: Run,
  terminal: Terminal,
  retry: { everyMs: number; onError: (error: unknown) => void; lost: AbortSignal },
): Promise<void> {
  while (!retry.lost.aborted) {
    try {
      await commitEnd(bot, run, terminal);
      return;
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      retry.onError(error);
      await delay(retry.everyMs);
    }
  }
}

/** Ends a run that never began, with an empty text (bots.md §3.3); inside a transaction. */
export function endUnbegun(bot: Bot, run: Run, at: number): boolean {
  const terminal = nothingSaid(run, at);
  const end = { runId: run.runId, state: 'aborted', outcome: terminal, at } as const;
  if (!endWaitingRun(bot.database, end)) return false;
  announceEnd(bot, run, terminal);
  handOn(bot, run.sessionKey);
  return true;
}

/** Ends a run whose session goes, whoever drives it: what it says from now on counts nowhere. Inside a transaction. */
export function endWithSession(bot: Bot, run: Run, at: number): void {
  if (run.state === 'accepted') {
    endUnbegun(bot, run, at);
    return;
  }
  const { runId, epoch } = run;
  const outcome = nothingSaid(run, at);
  endRun(bot.database, { runId, epoch, state: 'aborted', outcome, message: null, at });
  cancelRequests(bot, run, at);
  announceEnd(bot, run, outcome);
}

function nothingSaid(run: Run, at: number): Terminal {
  return { ...emptyTerminal(run, at), aborted: true };
}

/** Gives the session's next waiting run to whichever runner takes it. */
export function handOn(bot: Bot, sessionKey: string): void {
  const next = nextOpenRun(bot.database, sessionKey);
  if (next?.state === 'accepted') addRunTurn(bot, next);
}

/** A job to claim a run; the attempt in its id lets a later takeover be a job of its own. */
export function addRunTurn(bot: Bot, run: Run): void {
  const { name, botId } = bot;
  addBotTurn(bot.database, runTurnId(botId, run), {
    type: 'run',
    bot: name,
    botId,
    runId: run.runId,
    attempt: run.epoch,
  });
}

function runTurnId(botId: string, run: Run): string {
  return jobId('run', botId, run.runId, String(run.epoch));
}
