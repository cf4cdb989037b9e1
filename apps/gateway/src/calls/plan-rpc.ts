import {
  botMethods,
  botNameSchema,
  botParamsSchema,
  ContractError,
  conversationMethods,
  givenSessionKey,
  invalid,
  isBotMethod,
  parseParams,
  remoteSessionKeySchema,
  requireExactKeys,
  type BotMethodName,
} from '@flowly/contract';
import { tooLarge } from '../frames/read-frame';
import { topic } from '../sockets/subscriptions';
import { botCommand } from './bot-command';
import { botLane } from './bot-lane';
import { botOrder } from './bot-order';
import { checkExpectedId } from './expected-id';
import type { Caller, Plan } from './plan';

const LEAST_TIMEOUT_MS = 1_000;

/** `profiles.rpc`: steps 1 to 6 of bots.md §2.1 and the form of step 7, in that order. */
export function planRpc(params: Record<string, unknown>, caller: Caller): Plan {
  const name = parseParams(botNameSchema, params['name']);
  const method = allowedMethod(params['method']);
  const inner = parseParams(botParamsSchema, params['params']);
  if (caller.isOversized) throw tooLarge();
  requireExactKeys(method, inner, 'rpc');
  const sessionKey = sessionKeyOf(method, inner);
  // From here on the client hears of the bot, also when the call fails.
  caller.subscribe({ to: 'bot', bot: name });
  if (sessionKey !== undefined && hasKey(inner))
    caller.subscribe({ to: 'conversation', bot: name, sessionKey });
  const lane = sessionKey === undefined ? undefined : topic.conversation(name, sessionKey);
  const command = botCommand('rpc', { method, given: inner, sessionKey }, caller.limits);
  return {
    command: { ...command, bot: { name, ...identityGuard(params) } },
    ceilingMs: clampTimeout(params['timeoutMs'], botMethods[method].ceilingMs),
    order: botOrder(method, name, sessionKey),
    offline: 'PROFILE_OFFLINE',
    ...botLane(method, inner, lane),
  };
}

function allowedMethod(method: unknown): BotMethodName {
  if (typeof method === 'string' && isBotMethod(method)) return method;
  throw new ContractError('METHOD_NOT_ALLOWED', 'This method cannot be called on a bot.');
}

/** The rule holds wherever a key is present; some methods cannot do without. */
function sessionKeyOf(method: BotMethodName, inner: Record<string, unknown>): string | undefined {
  const given = givenSessionKey(method, inner);
  if (given === undefined && !conversationMethods.has(method)) return undefined;
  return parseParams(remoteSessionKeySchema, given);
}

/** A conversation is bound by `sessionKey` alone, not by the `key` of what is to be deleted. */
function hasKey(inner: Record<string, unknown>): boolean {
  return typeof inner['sessionKey'] === 'string';
}

function identityGuard(params: Record<string, unknown>): {
  expectedHostId?: string;
  expectedBotId?: string;
} {
  const { expectedHostId, expectedBotId } = params;
  const given = [expectedHostId, expectedBotId].some((id) => id !== undefined && id !== null);
  if (!given) return {};
  if (typeof expectedHostId !== 'string' || typeof expectedBotId !== 'string') {
    invalid('expectedHostId and expectedBotId come together.');
  }
  if (expectedHostId === '' || expectedBotId === '') invalid('An expected id cannot be empty.');
  checkExpectedId(expectedHostId);
  checkExpectedId(expectedBotId);
  return { expectedHostId, expectedBotId };
}

function clampTimeout(timeoutMs: unknown, ceilingMs: number): number {
  if (typeof timeoutMs !== 'number') return ceilingMs;
  return Math.min(Math.max(Math.trunc(timeoutMs), LEAST_TIMEOUT_MS), ceilingMs);
}
