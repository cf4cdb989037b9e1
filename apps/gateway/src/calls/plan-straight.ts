import { createHash } from 'node:crypto';
import {
  bindingMethods,
  botParamsSchema,
  conversationMethods,
  DEFAULT_BOT,
  givenSessionKey,
  parseParams,
  requireExactKeys,
  straightMethods,
  straightSessionKeySchema,
  type StraightMethodName,
} from '@flowly/contract';
import { topic } from '../sockets/subscriptions';
import { botCommand } from './bot-command';
import { botLane } from './bot-lane';
import { botOrder } from './bot-order';
import { checkExpectedId } from './expected-id';
import type { Caller, Plan } from './plan';

/** A bot method straight on the socket: the default bot's own clients (wire.md §4). */
export function planStraightCall(
  method: StraightMethodName,
  params: Record<string, unknown>,
  caller: Caller,
): Plan {
  const { expectedBotId, ...given } = parseParams(botParamsSchema, params);
  requireExactKeys(method, given, 'straight');
  const sessionKey = sessionKeyOf(method, given, caller.clientId);
  if (sessionKey !== undefined && bindingMethods.has(method))
    caller.subscribe({ to: 'straight', sessionKey });
  const lane = sessionKey === undefined ? undefined : topic.straight(sessionKey);
  const command = botCommand('straight', { method, given, sessionKey }, caller.limits);
  return {
    command: {
      ...command,
      bot: { name: DEFAULT_BOT, ...identityGuard(expectedBotId) },
      straight: true,
    },
    ceilingMs: straightMethods[method].ceilingMs,
    order: botOrder(method, DEFAULT_BOT, sessionKey),
    offline: 'UNAVAILABLE',
    ...botLane(method, given, lane),
  };
}

/** A client that names no conversation has one of its own. */
function sessionKeyOf(
  method: StraightMethodName,
  params: Record<string, unknown>,
  clientId: string,
): string | undefined {
  const key = givenSessionKey(method, params);
  if (key !== undefined) return parseParams(straightSessionKeySchema, key);
  if (!conversationMethods.has(method)) return undefined;
  return `desktop:${createHash('sha256').update(clientId).digest('hex').slice(0, 16)}`;
}

function identityGuard(expectedBotId: unknown): { expectedBotId?: string } {
  if (expectedBotId === undefined || expectedBotId === null) return {};
  const id = typeof expectedBotId === 'string' ? expectedBotId : '';
  checkExpectedId(id);
  return { expectedBotId: id };
}
