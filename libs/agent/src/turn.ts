import { listModels, ModelAborted, ModelFailure } from '@flowly/models';
import type { Run } from '@flowly/store';
import type { Bot } from './bot';
import { commitWhenPossible } from './end-turn';
import { bringFiles } from './fetched-files';
import { liveRun } from './live-run';
import { modelCall, type ModelCall } from './model-call';
import { PiecePump } from './piece-pump';
import { emptyTerminal, type Terminal } from './terminal';
import { ToolLoop } from './tool-loop';
import {
  TurnOver,
  type Turn,
  type TurnHooks,
  type TurnSettings,
  type TurnSignals,
} from './turn-context';

/**
 * Drives one claimed run to its single terminal (bots.md §3.3): asks the model and uses its tools, brings what it says
 * and does to the live record, commits the end.
 */
export async function driveTurn(
  bot: Bot,
  run: Run,
  settings: TurnSettings,
  signals: TurnSignals,
  hooks: TurnHooks,
): Promise<void> {
  const pump = pumpFor(bot, run, settings, signals, hooks);
  const { limits, onError } = settings;
  // Redis may lose the record while the turn has nothing to say.
  const keeping = setInterval(() => void pump.keep(), limits.liveLookMs);
  let terminal: Terminal;
  try {
    terminal = await answer({ bot, run, settings, signals, hooks, pump });
    await pump.finish();
  } finally {
    clearInterval(keeping);
  }
  await commitWhenPossible(bot, run, terminal, {
    everyMs: limits.renewMs,
    onError,
    lost: signals.lost,
  });
}

async function answer(turn: Turn): Promise<Terminal> {
  const { bot, run, settings } = turn;
  const terminal = emptyTerminal(run, 0);
  let loop: ToolLoop | null = null;
  try {
    await bringFiles(turn);
    const call = await modelCall(bot, run, settings.media);
    terminal.model = call.target.model;
    if (call.window.isKnown) terminal.contextWindow = call.window.tokens;
    loop = new ToolLoop(turn, call);
    await loop.run();
    learnWindow(call, settings);
    return finished(terminal, turn, loop);
  } catch (error) {
    if (error instanceof ModelAborted || error instanceof TurnOver)
      return finished({ ...terminal, aborted: true }, turn, loop);
    if (!(error instanceof ModelFailure)) settings.onError(error);
    return failed(finished(terminal, turn, loop), error);
  }
}

/** What the model holds was a guess: its provider's list may say it, for the turns after this one. */
function learnWindow({ target, window }: ModelCall, { limits, onError }: TurnSettings): void {
  if (!window.isKnown) listModels(target, { limits }).catch(onError);
}

function pumpFor(
  bot: Bot,
  run: Run,
  settings: TurnSettings,
  signals: TurnSignals,
  hooks: TurnHooks,
): PiecePump {
  return new PiecePump(
    settings.live,
    liveRun(bot, run),
    settings.limits.pieceMs,
    hooks.begin,
    // A record that was closed means that the group ended this step: the run still has to be ended here.
    (refusal) => (refusal === 'stale' ? signals.lose() : signals.stop()),
    settings.onError,
  );
}

/** The end as it stands now: the words since the last step, and all the turn has used. */
function finished(terminal: Terminal, { run, pump }: Turn, loop: ToolLoop | null): Terminal {
  const at = Date.now();
  return {
    ...terminal,
    text: pump.text,
    toolCalls: pump.calls.map(({ id, name, argumentsJson }) => ({ id, name, argumentsJson })),
    usage: loop?.usage ?? null,
    ...(loop?.contextTokens !== undefined && { contextTokens: loop.contextTokens }),
    completedAt: at,
    durationMs: emptyTerminal(run, at).durationMs,
  };
}

function failed(terminal: Terminal, error: unknown): Terminal {
  const known = error instanceof ModelFailure;
  return {
    ...terminal,
    text: '',
    state: 'error',
    errorCode: known ? error.code : 'AGENT_INTERNAL_ERROR',
    errorMessage: known ? error.message : 'The bot could not finish its answer.',
  };
}
