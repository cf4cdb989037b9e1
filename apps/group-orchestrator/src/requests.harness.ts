import type { LiveCall, RequestClosed, RequestOpened, RequestResolved } from '@flowly/contract';
import type { Given, GroupWorld } from './orchestrator.harness';

/** What a runner tells of a member's request, and what a test looks at. */

type Kind = RequestOpened['kind'];

function refOf({ group, run, steps }: Given, bot: string) {
  return { stepKey: steps[bot] ?? '', groupId: group, runId: run, bot };
}

export function opened(
  given: Given,
  bot: string,
  requestId: string,
  request: Partial<RequestOpened['request']> & { kind?: Kind } = {},
): RequestOpened {
  const { kind = 'approval', ...shown } = request;
  return {
    type: 'request-opened',
    ...refOf(given, bot),
    requestId,
    kind,
    request: { id: requestId, ...shown },
    at: Date.now(),
  };
}

export function closed(given: Given, bot: string, requestId: string): RequestClosed {
  return {
    type: 'request-closed',
    ...refOf(given, bot),
    requestId,
    kind: 'approval',
    at: Date.now(),
  };
}

export function resolved(
  given: Given,
  bot: string,
  requestId: string,
  outcome: { command: string; taken: boolean },
): RequestResolved {
  return {
    type: 'resolved',
    ...refOf(given, bot),
    requestId,
    kind: 'approval',
    command: { id: outcome.command, gateway: 'gateway-1' },
    taken: outcome.taken,
    at: Date.now(),
  };
}

/** A tool call as a member's runner notes it. */
export async function noteCall(
  { bus }: GroupWorld,
  given: Given,
  bot: string,
  call: LiveCall,
): Promise<void> {
  const live = {
    bot,
    botId: `id of ${bot}`,
    sessionKey: `desktop:profile-room:${given.group}`,
    runId: given.steps[bot] ?? '',
    epoch: 1,
    group: { groupId: given.group, runId: given.run },
  };
  await bus.live.addStep(live, []);
  await bus.live.addCall(live, { call, calls: [call] }, []);
}
