import type { StepAborted, StepGiven } from '@flowly/contract';
import type { NewRun, Run } from '@flowly/store';
import type { Bot } from './bot';
import { tellOpenRequest } from './requests';
import { announceAcceptance, announceEnd, terminalSchema } from './terminal';

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

/** Tells a group again what has become of its step: that it is there and what it waits for, or how it ended. */
export function tellAgain(bot: Bot, run: Run): void {
  if (run.outcome !== null) return announceEnd(bot, run, terminalSchema.parse(run.outcome));
  announceAcceptance(bot, run);
  tellOpenRequest(bot, run);
}
