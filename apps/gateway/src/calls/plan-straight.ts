import { createHash } from 'node:crypto';
import {
  bindingMethods,
  botMethodParams,
  botMethods,
  ContractError,
  conversationMethods,
  DEFAULT_BOT,
  invalid,
  isObject,
  parseParams,
  straightSessionKeySchema,
  type BotMethodName,
} from '@flowly/contract';
import { botOrder } from './bot-order';
import { fingerprint } from './fingerprint';
import type { Caller, Plan } from './plan';

/** A bot method straight on the socket: the default bot's own clients (wire.md §4). */
export function planStraightCall(
  method: BotMethodName,
  params: Record<string, unknown>,
  caller: Caller,
): Plan {
  const { expectedBotId, ...given } = params;
  const sessionKey = sessionKeyOf(method, given, caller.clientId);
  if (sessionKey !== undefined && bindingMethods.has(method))
    caller.subscribe({ to: 'straight', sessionKey });
  const whole = sessionKey === undefined ? given : { ...given, sessionKey };
  const parsed = parseParams(botMethodParams(method, 'straight'), whole);
  if (!isObject(parsed)) invalid('params must be an object.');
  return {
    command: {
      name: method,
      queue: 'bot-commands',
      params: parsed,
      bot: { name: DEFAULT_BOT, ...identityGuard(expectedBotId) },
      straight: true,
      ...(method === 'chat.send' ? { fingerprint: fingerprint(given, sessionKey ?? '') } : {}),
    },
    ceilingMs: botMethods[method].ceilingMs,
    order: botOrder(method, DEFAULT_BOT, sessionKey),
    offline: 'UNAVAILABLE',
  };
}

/** A client that names no conversation has one of its own. */
function sessionKeyOf(
  method: BotMethodName,
  params: Record<string, unknown>,
  clientId: string,
): string | undefined {
  const key = params['sessionKey'];
  if (key !== undefined && key !== null) return parseParams(straightSessionKeySchema, key);
  if (!conversationMethods.has(method)) return undefined;
  return `desktop:${createHash('sha256').update(clientId).digest('hex').slice(0, 16)}`;
}

function identityGuard(expectedBotId: unknown): { expectedBotId?: string } {
  if (expectedBotId === undefined || expectedBotId === null) return {};
  if (typeof expectedBotId === 'string' && expectedBotId !== '') return { expectedBotId };
  throw new ContractError('PROFILE_IDENTITY_CHANGED', 'This is another bot than expected.');
}
