import type { ChatSendResult, ReceiptStatus, StepAborted, StepGiven } from '@flowly/contract';
import { ContractError } from '@flowly/contract';
import {
  acceptRun,
  claimRun,
  requestAbort,
  findRun,
  type Claim,
  type NewRun,
  type Run,
} from '@flowly/store';
import type { Bot } from './bot';
import { endUnbegun } from './end-turn';
import { announceAcceptance, announceEnd, terminalSchema } from './terminal';

/** What an acceptance leaves to do: the run to drive now, if it was claimed. */
export interface Accepted {
  receipt: ChatSendResult;
  claimed: Run | null;
}

/**
 * Takes a `chat.send`, inside the command's transaction: the receipt is written before the work, and a free session's
 * run is claimed at once when `claim` is given.
 * @throws ContractError IDEMPOTENCY_CONFLICT
 */
export function acceptTurn(bot: Bot, wanted: NewRun, claim: Claim | null): Accepted {
  const acceptance = acceptRun(bot.database, wanted);
  if (acceptance.kind === 'conflict') {
    throw new ContractError(
      'IDEMPOTENCY_CONFLICT',
      'This idempotency key was used for another message.',
    );
  }
  const { run } = acceptance;
  if (acceptance.kind === 'known') {
    return {
      receipt: { runId: run.runId, status: statusOf(run), replayed: true },
      claimed: null,
    };
  }
  const receipt = { runId: run.runId, status: 'accepted' as const };
  if (acceptance.abortedBefore) {
    endUnbegun(bot, run, wanted.at);
    return { receipt, claimed: null };
  }
  return { receipt, claimed: claim && claimRun(bot.database, run.runId, claim) };
}

/**
 * Takes a step of a group. Whether it is new or known, what it has come to is told again: a repeated acceptance or end
 * changes nothing at the group.
 */
export async function acceptStep(
  bot: Bot,
  step: StepGiven,
  claim: () => Claim,
): Promise<Run | null> {
  return bot.database.write(() => {
    // Made now: waiting for the file may have taken longer than a claim stands.
    const claimed = claim();
    const { at } = claimed;
    const acceptance = acceptRun(
      bot.database,
      newStepRun(step, step.prompt, step.disabledTools, at),
    );
    if (acceptance.kind === 'conflict') return null;
    const { run } = acceptance;
    if (acceptance.kind === 'known') {
      tellAgain(bot, run);
      return null;
    }
    announceAcceptance(bot, run);
    if (acceptance.abortedBefore) {
      endUnbegun(bot, run, at);
      return null;
    }
    return claimRun(bot.database, run.runId, claimed);
  });
}

/**
 * Ends a step for its group. One that has not come yet gets its ended row now, so that the step, when it comes, is
 * known and starts nothing (groups.md §6).
 * @returns the run whose driver is to be woken
 */
export async function abortStep(bot: Bot, step: StepAborted, at: number): Promise<Run | null> {
  return bot.database.write(() => {
    const known = findRun(bot.database, step.stepKey);
    const run = known ?? newAbortedRun(bot, step, at);
    if (run.endedAt !== null) {
      tellAgain(bot, run);
      return null;
    }
    requestAbort(bot.database, run.runId, null, at);
    return run.state === 'accepted' && endUnbegun(bot, run, at) ? null : run;
  });
}

/** What clients are told of a run's receipt. */
export function statusOf(run: Run): ReceiptStatus {
  return run.state;
}

function newAbortedRun(bot: Bot, step: StepAborted, at: number): Run {
  const acceptance = acceptRun(bot.database, newStepRun(step, '', [], at));
  if (acceptance.kind === 'conflict') throw new Error('A step of a group cannot be a conflict.');
  return acceptance.run;
}

function newStepRun(
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
    step: { stepKey, groupId, runId, bot },
    at,
  };
}

function tellAgain(bot: Bot, run: Run): void {
  if (run.outcome === null) announceAcceptance(bot, run);
  else announceEnd(bot, run, terminalSchema.parse(run.outcome));
}
