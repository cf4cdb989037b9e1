import type { ChatSendResult, ReceiptStatus, StepGiven } from '@flowly/contract';
import { ContractError } from '@flowly/contract';
import {
  acceptRun,
  claimRun,
  findRun,
  stoppedByOwner,
  type Claim,
  type NewRun,
  type Run,
} from '@flowly/store';
import type { Bot } from './bot';
import { dropSession } from './drop-session';
import { endUnbegun } from './end-turn';
import { failStopped, failTaken, newStepRun, tellAgain } from './step-run';
import { announceAcceptance } from './terminal';

/** What an acceptance leaves to do: the run to drive now, if it was claimed. */
export interface Accepted {
  receipt: ChatSendResult;
  claimed: Run | null;
}

/**
 * Takes a `chat.send`, inside the command's transaction: the receipt is written before the work, and a free session's
 * run is claimed at once when `claim` is given.
 * @throws ContractError IDEMPOTENCY_CONFLICT, PROFILE_NOT_FOUND, PROFILE_STOPPED
 */
export function acceptTurn(bot: Bot, wanted: NewRun, claim: Claim | null): Accepted {
  const acceptance = acceptRun(bot.database, wanted);
  if (acceptance.kind === 'conflict') {
    throw new ContractError(
      'IDEMPOTENCY_CONFLICT',
      'This idempotency key was used for another message.',
    );
  }
  if (acceptance.kind === 'gone') {
    throw new ContractError('PROFILE_NOT_FOUND', `The bot ${bot.name} does not exist.`);
  }
  if (acceptance.kind === 'stopped') throw stoppedByOwner();
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
 * Takes a step of a group; a stopped bot fails it. Whether it is new or known, what it has come to is told again: a
 * repeated acceptance or end changes nothing at the group.
 */
export async function acceptStep(
  bot: Bot,
  step: StepGiven,
  claim: () => Claim,
): Promise<Run | null> {
  return bot.database.write(() => {
    // Made now: waiting for the file may have taken longer than a claim stands.
    const claimed = claim();
    const at = afterRemovals(bot, step, claimed.at);
    const acceptance = acceptRun(
      bot.database,
      newStepRun(step, step.prompt, step.disabledTools, at),
    );
    // Of a bot that is being deleted the group is stopped, which says more than an answer could.
    if (acceptance.kind === 'gone') return null;
    if (acceptance.kind === 'conflict') {
      failTaken(bot, step, at);
      return null;
    }
    if (acceptance.kind === 'stopped') {
      failStopped(bot, step, at);
      return null;
    }
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

/** What clients are told of a run's receipt. */
export function statusOf(run: Run): ReceiptStatus {
  return run.state;
}

/** Removes what is left of earlier sessions of the group before a new step. @returns when the step's session is made */
function afterRemovals(bot: Bot, { stepKey, removals = [] }: StepGiven, at: number): number {
  if (removals.length === 0 || findRun(bot.database, stepKey)) return at;
  for (const removal of removals) dropSession(bot, removal, at);
  // Later than each of them, whatever the clock says: one that is delivered again must not meet the new session.
  return Math.max(at, ...removals.map((removal) => removal.at + 1));
}
