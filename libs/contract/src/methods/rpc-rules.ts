import { byRule, invalid, isObject } from '../parse';

/** The rules of `profiles.rpc` that go by the method (bots.md §2.1), also for methods that are not built yet. */

/** Params of a bot method: an object of what JSON can hold; null and absent are the empty one. */
export const botParamsSchema = byRule((value): Record<string, unknown> => {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) invalid('params must be an object.');
  if (!isJson(value)) invalid('params hold a number that is too large for JSON.');
  return value;
});

/** A number such as 1e999 is read as infinite, which no JSON can tell on. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isJson);
}

/** Methods that take exactly these keys; all others ignore unknown ones. */
const exactKeySets: ReadonlyMap<string, readonly string[]> = new Map([
  ['tools.access.get', []],
  ['tools.access.set', ['disabledToolsets']],
  ['exec.policy.get', []],
  ['exec.policy.set', ['security', 'ask']],
  ['codex.policy.get', []],
  ['codex.policy.set', ['approvalPolicy', 'sandbox']],
]);

/**
 * Straight on the socket a part of the keys will do (wire.md §4); what is missing there is for the method's schema to judge.
 * @throws ContractError INVALID_PARAMS for a key too many, or through `profiles.rpc` too few
 */
export function requireExactKeys(
  method: string,
  params: Record<string, unknown>,
  way: 'rpc' | 'straight',
): void {
  const exact = exactKeySets.get(method);
  if (exact === undefined) return;
  const isKnown = Object.keys(params).every((key) => exact.includes(key));
  const isWhole = way === 'straight' || exact.every((key) => Object.hasOwn(params, key));
  if (!isKnown || !isWhole) invalid(`${method} takes ${exact.join(' and ') || 'no params'}.`);
}

/**
 * Methods that work on one conversation: through `profiles.rpc` their session key is required, straight on the socket an
 * absent one means the client's own.
 */
export const conversationMethods: ReadonlySet<string> = new Set([
  'chat.clear',
  'chat.command',
  'chat.history',
  'chat.inflight',
  'chat.retry',
  'chat.send',
  'chat.undo',
  'sessions.model.get',
  'sessions.model.set',
]);

/** Methods that name their session by `sessionKey`, else by `key`, and cannot do without. */
const keyedMethods: ReadonlySet<string> = new Set(['sessions.delete']);

/**
 * The session key in params as the client gave it, undefined when there is none.
 * @throws ContractError INVALID_PARAMS when it is named twice, or not where it must be
 */
export function givenSessionKey(method: string, params: Record<string, unknown>): unknown {
  const sessionKey = params['sessionKey'] ?? undefined;
  if (!keyedMethods.has(method)) return sessionKey;
  const key = params['key'] ?? undefined;
  if (sessionKey !== undefined && key !== undefined && sessionKey !== key)
    invalid('sessionKey and key name two sessions.');
  const named = sessionKey ?? key;
  if (named === undefined) invalid('The session key must be text.');
  return named;
}
