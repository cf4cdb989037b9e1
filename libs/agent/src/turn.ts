import { isInternalSession, type Limits, type Usage } from '@flowly/contract';
import type { LiveRecords, LiveRun } from '@flowly/bus';
import { addEvent } from '@flowly/delivery';
import { ModelAborted, ModelFailure, streamModel } from '@flowly/models';
import type { Run } from '@flowly/store';
import type { Bot } from './bot';
import { commitEnd, commitWhenPossible } from './end-turn';
import { modelCall, type ModelCall } from './model-call';
import { PiecePump } from './piece-pump';
import { chatStreamEvent, type Terminal } from './terminal';

export interface TurnSettings {
  live: LiveRecords;
  limits: Limits;
  onError: (error: unknown) => void;
}

/** What ends a turn from outside: the user's stop, or that another attempt took the run over. */
export interface TurnSignals {
  /** Stops the model; the text so far is the answer. */
  abort: AbortSignal;
  stop: () => void;
  /** This process must not touch the run any more. */
  lost: AbortSignal;
  lose: () => void;
}

/**
 * Drives one claimed run to its single terminal (bots.md §3.3): asks the model, brings its text to the live record,
 * commits the end.
 * @param begin sees that what must come before the first piece is out (the answer to the call that began the run)
 */
export async function driveTurn(
  bot: Bot,
  run: Run,
  settings: TurnSettings,
  signals: TurnSignals,
  begin: () => Promise<void>,
): Promise<void> {
  const pump = pumpFor(bot, run, settings, signals, begin);
  const terminal = await answer(bot, run, settings, signals, pump);
  await pump.finish();
  const { limits, onError } = settings;
  await commitWhenPossible(bot, run, terminal, {
    everyMs: limits.renewMs,
    onError,
    lost: signals.lost,
  });
}

/** Ends a run that cannot go on, without asking a model. */
export async function interruptTurn(bot: Bot, run: Run): Promise<void> {
  await commitEnd(bot, run, {
    ...emptyTerminal(run, Date.now()),
    state: 'error',
    errorCode: 'RUN_INTERRUPTED',
    errorMessage: 'The answer was interrupted by a restart. Send the message again.',
  });
}

/**
 * Makes a taken-up run start anew for those who watch: the record is emptied for this attempt, and clients that had
 * text of the answer are told that it is over (bots.md §3.3).
 */
export async function resetForTakeover(bot: Bot, run: Run, live: LiveRecords): Promise<void> {
  const { text } = await live.read({ botId: bot.botId, runId: run.runId, ...groupOf(run) });
  await live.take(liveRun(bot, run));
  if (text === '' || isInternalSession(run.sessionKey)) return;
  await bot.database.write(() =>
    addEvent(
      bot.database,
      chatStreamEvent(bot, run, {
        state: 'iteration_step',
        runId: run.runId,
        sessionKey: run.sessionKey,
        iterationIdx: 0,
        role: 'assistant',
        content: text,
        tool_calls: [],
      }),
    ),
  );
}

async function answer(
  bot: Bot,
  run: Run,
  settings: TurnSettings,
  signals: TurnSignals,
  pump: PiecePump,
): Promise<Terminal> {
  const terminal = emptyTerminal(run, 0);
  try {
    const call = modelCall(bot, run);
    terminal.model = call.target.model;
    terminal.usage = await streamInto(pump, call, settings.limits, signals.abort);
    return finished(terminal, run, pump.text);
  } catch (error) {
    if (error instanceof ModelAborted)
      return finished({ ...terminal, aborted: true }, run, pump.text);
    if (!(error instanceof ModelFailure)) settings.onError(error);
    return failed(terminal, run, error);
  }
}

async function streamInto(
  pump: PiecePump,
  call: ModelCall,
  limits: Limits,
  signal: AbortSignal,
): Promise<Usage | null> {
  let usage: Usage | null = null;
  const request = {
    ...call,
    signal,
    limits: {
      firstByteMs: limits.modelFirstByteMs,
      betweenBytesMs: limits.modelBetweenBytesMs,
      maxRetries: limits.modelRetries,
      retryDelayMs: limits.modelRetryDelayMs,
    },
  };
  for await (const event of streamModel(request)) {
    if (event.type === 'text') pump.push(event.text);
    else usage = event.usage;
  }
  return usage;
}

function pumpFor(
  bot: Bot,
  run: Run,
  settings: TurnSettings,
  signals: TurnSignals,
  begin: () => Promise<void>,
): PiecePump {
  return new PiecePump(
    settings.live,
    liveRun(bot, run),
    settings.limits.pieceMs,
    begin,
    // A record that was closed means that the group ended this step: the run still has to be ended here.
    (refusal) => (refusal === 'stale' ? signals.lose() : signals.stop()),
    settings.onError,
  );
}

function liveRun(bot: Bot, run: Run): LiveRun {
  return {
    bot: bot.name,
    botId: bot.botId,
    sessionKey: run.sessionKey,
    runId: run.runId,
    epoch: run.epoch,
    group: run.step ? { groupId: run.step.groupId, runId: run.step.runId } : undefined,
  };
}

function groupOf(run: Run): { groupId?: string } {
  return run.step ? { groupId: run.step.groupId } : {};
}

function emptyTerminal(run: Run, at: number): Terminal {
  return {
    state: 'final',
    text: '',
    aborted: false,
    usage: null,
    model: '',
    completedAt: at,
    durationMs: run.startedAt === null ? 0 : Math.max(0, at - run.startedAt),
  };
}

function finished(terminal: Terminal, run: Run, text: string): Terminal {
  const at = Date.now();
  return { ...terminal, text, completedAt: at, durationMs: emptyTerminal(run, at).durationMs };
}

function failed(terminal: Terminal, run: Run, error: unknown): Terminal {
  const known = error instanceof ModelFailure;
  return {
    ...finished(terminal, run, ''),
    state: 'error',
    errorCode: known ? error.code : 'AGENT_INTERNAL_ERROR',
    errorMessage: known ? error.message : 'The bot could not finish its answer.',
  };
}
