import type { StepAborted, StepGiven } from '@flowly/contract';
import { endWaitingRun, refuseRun, STOPPED_TEXT, type NewRun, type Run } from '@flowly/store';
import type { Bot } from './bot';
import { tellOpenRequest } from './requests';
import {
  announceAcceptance,
  announceEnd,
  emptyTerminal,
  terminalSchema,
  type Terminal,
} from './terminal';

/** The row that a step of a group has at its bot. */
export function newStepRun(
  step: StepGiven | StepAborted,
  message: string,
  disabledTools: readonly string[],
  at: number,
): NewRun {
  const { stepKey, groupId, runId, bot } = step;
  return {
    runId: stepKey,
    sessionKey: step.sessionKey,
    origin: 'group',
    fingerprint: '',
    message,
    modelOverride: null,
    disabledTools,
    ...(step.type === 'step' && step.attachments && { files: step.attachments }),
    step: { stepKey, groupId, runId, bot },
    at,
  };
}

/**
 * Fails a step that comes to a stopped bot. Its row says so, so that it never begins, also when it is given again after
 * the bot was connected. Inside a transaction.
 */
export function failStopped(bot: Bot, step: StepGiven, at: number): void {
  const run = refuseRun(bot.database, newStepRun(step, '', [], at));
  const outcome: Terminal = {
    ...emptyTerminal(run, at),
    state: 'error',
    errorCode: 'PROFILE_STOPPED',
    errorMessage: STOPPED_TEXT,
  };
  endWaitingRun(bot.database, { runId: run.runId, state: 'error', outcome, at });
  announceEnd(bot, run, outcome);
}

/**
 * Fails a step whose id a client has given a message of its own: it can have no row, so this is told whenever it comes.
 * Inside a transaction.
 */
export function failTaken(bot: Bot, step: StepGiven | StepAborted, at: number): void {
  announceEnd(bot, newStepRun(step, '', [], at), {
    ...emptyTerminal({ startedAt: null }, at),
    state: 'error',
    aborted: step.type === 'abort',
    errorCode: 'AGENT_INTERNAL_ERROR',
    errorMessage: 'The bot could not begin its answer: another message has its id.',
  });
}

/** Tells a group again what has become of its step: that it is there and what it waits for, or how it ended. */
export function tellAgain(bot: Bot, run: Run): void {
  if (run.outcome !== null) return announceEnd(bot, run, terminalSchema.parse(run.outcome));
  announceAcceptance(bot, run);
  tellOpenRequest(bot, run);
}
