import { randomBytes } from 'node:crypto';
import { jobId } from '@flowly/bus';
import type { Approval, ApprovalDecision, Clarify, RequestResolve } from '@flowly/contract';
import { addGroupTurn } from '@flowly/delivery';
import {
  allowProgram,
  decideRequest,
  findOutcome,
  findRequest,
  giveUpRequest,
  openRequest,
  openRequestOf,
  openRequests,
  storeOutcome,
  type BotRequest,
  type CloseReason,
  type RequestKind,
  type Run,
} from '@flowly/store';
import { z } from 'zod';
import type { Bot } from './bot';
import { tellingNeeds } from './bot-events';
import {
  announceClosed,
  announceOpened,
  shownApproval,
  shownQuestion,
  tellGroupOfOpening,
} from './request-events';

/**
 * What turns ask of people (bots.md §3.4, §3.5). Everything here that changes a request is called inside a transaction
 * and says in the same one who is to hear of it: the conversation, or the group whose step waits.
 */

/** The bot's open approvals and questions, or those of one session, oldest first; `at` in Unix ms. */
export function listApprovals({ database }: Bot, at: number, sessionKey?: string): Approval[] {
  return openRequests(database, 'approval', at)
    .filter((request) => isOf(request, sessionKey))
    .map(shownApproval);
}

export function listQuestions({ database }: Bot, at: number, sessionKey?: string): Clarify[] {
  return openRequests(database, 'clarify', at)
    .filter((request) => isOf(request, sessionKey))
    .map(shownQuestion);
}

function isOf(request: BotRequest, sessionKey: string | undefined): boolean {
  return sessionKey === undefined || request.sessionKey === sessionKey;
}

/** Opens a request for a turn; null when the run is to end or another attempt has it. */
export function askFor(
  bot: Bot,
  run: Run,
  wanted: { kind: RequestKind; body: Record<string, unknown>; at: number; forMs: number },
): BotRequest | null {
  const { runId, sessionKey, epoch } = run;
  const { kind, body, at, forMs } = wanted;
  const id = randomBytes(8).toString('hex');
  const request = { id, runId, sessionKey, kind, body, createdAt: at, expiresAt: at + forMs };
  return tellingNeeds(bot, () => {
    const opened = openRequest(bot.database, request, epoch);
    if (opened) announceOpened(bot, run, opened);
    return opened;
  });
}

/** Decides an approval; null when it is unknown, decided or expired. */
export function decideApproval(
  bot: Bot,
  id: string,
  decision: ApprovalDecision,
  at: number,
): BotRequest | null {
  const decided = decide(bot, id, 'approval', { reason: decision, at });
  if (decided && decision === 'allow-always') allowAlways(bot, decided, at);
  return decided;
}

/** Answers a question; null when it is unknown, answered or expired. */
export function answerQuestion(
  bot: Bot,
  id: string,
  answer: string,
  at: number,
): BotRequest | null {
  return decide(bot, id, 'clarify', { reason: 'answered', answer, at });
}

/** Closes a request whose time is over, unless it was decided before. */
export function expireRequest(bot: Bot, id: string, at: number): void {
  giveUp(bot, id, 'timeout', at);
}

/** Closes what a run has open, because nobody waits for it any more. */
export function cancelRequests(bot: Bot, run: Run, at: number): void {
  const open = openRequestOf(bot.database, run.runId);
  if (open) giveUp(bot, open.id, 'cancelled', at);
}

function giveUp(bot: Bot, id: string, reason: 'timeout' | 'cancelled', at: number): void {
  tellingNeeds(bot, () => {
    const closed = giveUpRequest(bot.database, id, { reason, at });
    if (closed) announceClosed(bot, closed, reason);
  });
}

/** Tells a group again what its step waits for, if it does (groups.md §7). */
export function tellOpenRequest(bot: Bot, run: Run): void {
  const open = openRequestOf(bot.database, run.runId);
  if (open) tellGroupOfOpening(bot, run, open);
}

const takenSchema = z.object({ taken: z.boolean() });

/**
 * Takes what a person decided in a group and tells the group what it came to; delivered again it has the same outcome.
 * @returns the run to wake, when it was taken
 */
export function resolveForGroup(bot: Bot, job: RequestResolve, at: number): string | null {
  const before = findOutcome(bot.database, job.command.id);
  const taken = before === null ? take(bot, job, at) : takenSchema.parse(before).taken;
  if (before === null) storeOutcome(bot.database, job.command.id, { taken }, at);
  tellResolved(bot, job, taken, at);
  return taken ? job.stepKey : null;
}

function take(bot: Bot, job: RequestResolve, at: number): boolean {
  const { requestId, kind, stepKey, decision, answer } = job;
  if (findRequest(bot.database, requestId)?.runId !== stepKey) return false;
  if (kind === 'approval') {
    return decision !== undefined && decideApproval(bot, requestId, decision, at) !== null;
  }
  return answer !== undefined && answerQuestion(bot, requestId, answer, at) !== null;
}

function tellResolved(bot: Bot, job: RequestResolve, taken: boolean, at: number): void {
  const { type: _type, sessionKey: _key, decision: _decision, answer: _answer, ...ref } = job;
  const { command, ...request } = ref;
  addGroupTurn(bot.database, jobId('resolved', job.requestId, command.id), {
    type: 'resolved',
    ...ref,
    taken,
    at,
  });
  if (taken) return;
  addGroupTurn(bot.database, jobId('request-closed', job.requestId, command.id), {
    type: 'request-closed',
    ...request,
    at,
  });
}

function decide(
  bot: Bot,
  id: string,
  kind: RequestKind,
  end: { reason: CloseReason; answer?: string; at: number },
): BotRequest | null {
  if (findRequest(bot.database, id)?.kind !== kind) return null;
  return tellingNeeds(bot, () => {
    const decided = decideRequest(bot.database, id, end);
    if (decided) announceClosed(bot, decided, end.reason);
    return decided;
  });
}

/** The decision is bound to the command that was shown: its program is allowed from now on. */
function allowAlways(bot: Bot, request: BotRequest, at: number): void {
  const { supportsAlways, resolvedPath, command } = shownApproval(request);
  if (!supportsAlways || resolvedPath === null) return;
  allowProgram(bot.database, { pattern: resolvedPath, command }, at);
}
