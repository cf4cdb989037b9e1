import { jobId } from '@flowly/bus';
import {
  approvalSchema,
  clarifySchema,
  isInternalSession,
  type Approval,
  type BotStreamEvent,
  type Clarify,
} from '@flowly/contract';
import { addEvent, addGroupTurn } from '@flowly/delivery';
import { findRun, type BotRequest, type CloseReason, type Run } from '@flowly/store';
import type { Bot } from './bot';

/** Who hears of a request: the conversation it belongs to, or the group whose step waits. */

/** An approval or question for somebody who lists them. */
export function shownApproval(request: BotRequest): Approval {
  return approvalSchema.parse({ ...headOf(request), ...request.body });
}

export function shownQuestion(request: BotRequest): Clarify {
  return clarifySchema.parse({ ...headOf(request), ...request.body });
}

/** Tells of a request that was opened; inside that transaction. */
export function announceOpened(bot: Bot, run: Run, request: BotRequest): void {
  const type = request.kind === 'approval' ? 'exec.approval.requested' : 'agent.clarify.requested';
  tellConversation(bot, request, type, shownRequest(request));
  tellGroupOfOpening(bot, run, request);
}

/** Tells the group alone, also again: it knows the request by its id. */
export function tellGroupOfOpening(bot: Bot, run: Run, request: BotRequest): void {
  if (!run.step) return;
  addGroupTurn(bot.database, jobId('request-opened', request.id), {
    type: 'request-opened',
    ...run.step,
    requestId: request.id,
    kind: request.kind,
    request: shownRequest(request),
    at: request.createdAt,
  });
}

function shownRequest(request: BotRequest): Approval | Clarify {
  return request.kind === 'approval' ? shownApproval(request) : shownQuestion(request);
}

/** Tells of a request that was closed; inside that transaction. */
export function announceClosed(bot: Bot, request: BotRequest, reason: CloseReason): void {
  const { id, sessionKey, kind, runId, closedAt } = request;
  const type = kind === 'approval' ? 'exec.approval.closed' : 'agent.clarify.closed';
  tellConversation(bot, request, type, { id, reason, sessionKey });
  const step = findRun(bot.database, runId)?.step;
  if (!step) return;
  addGroupTurn(bot.database, jobId('request-closed', id), {
    type: 'request-closed',
    ...step,
    requestId: id,
    kind,
    at: closedAt ?? request.createdAt,
  });
}

/** Of internal sessions nothing is told (wire.md §5.1). */
function tellConversation(
  { database, name, botId }: Bot,
  { sessionKey }: BotRequest,
  type: BotStreamEvent['type'],
  data: Record<string, unknown>,
): void {
  if (isInternalSession(sessionKey)) return;
  addEvent(database, { kind: 'bot', bot: name, botId, sessionKey, type, data });
}

function headOf({ id, sessionKey, createdAt, expiresAt }: BotRequest) {
  return { id, sessionKey, createdAt: createdAt / 1000, expiresAt: expiresAt / 1000 };
}
