import { openRequestOf, requestClosed } from '@flowly/groups';
import type { GroupStore, GroupTransaction } from '@flowly/store';
import { addGroupEvent } from '../views/group-event';
import { changeOpenStep, type OpenStep } from './open-step';

/** More than a turn asks for in its ten minutes. */
const MOST_REMEMBERED = 100;

/** How often a bot may tell of a step without its open request before that counts as closed. */
const MOST_UNCONFIRMED = 3;

/**
 * A request is over: the member goes on, and an opening of it that comes later opens nothing, since what a runner tells
 * can come in any order (groups.md §7).
 */
export function closeRequest(
  store: GroupStore,
  groups: GroupTransaction,
  open: OpenStep,
  requestId: string,
): void {
  const { closedRequests = [] } = open.step;
  const known = closedRequests.includes(requestId);
  endWaiting(store, groups, open, requestId, {
    closedRequests: known ? closedRequests : remember(closedRequests, requestId),
  });
}

/**
 * The bot told of the step again. Its open request is told along with it, so one that is missing several times over is
 * closed there and the word of it was lost.
 */
export function missRequest(store: GroupStore, groups: GroupTransaction, open: OpenStep): void {
  const request = openRequestOf(open.group.run, open.member);
  if (!request) return;
  const unconfirmed = (open.step.unconfirmed ?? 0) + 1;
  if (unconfirmed < MOST_UNCONFIRMED) changeOpenStep(groups, open, open.group.run, { unconfirmed });
  else endWaiting(store, groups, open, request.id, { unconfirmed: 0 });
}

/** With one more id, without the oldest. */
export function remember(ids: readonly string[], id: string): string[] {
  return [...ids, id].slice(-MOST_REMEMBERED);
}

function endWaiting(
  store: GroupStore,
  groups: GroupTransaction,
  open: OpenStep,
  id: string,
  change: Parameters<typeof changeOpenStep>[3],
): void {
  const { group, member } = open;
  const run = requestClosed(group.run, { member, id }, new Date().toISOString());
  const { group: stored } = changeOpenStep(groups, open, run, change);
  if (run !== group.run) addGroupEvent(store, groups, stored, { type: 'attention' });
}
