import {
  botMethodParams,
  isBotMethod,
  invalid,
  isObject,
  parseParams,
  straightOnlyMethods,
  type CallWay,
  type Limits,
  type StraightMethodName,
} from '@flowly/contract';
import { fingerprint } from './fingerprint';
import type { PlannedCommand } from './plan';

/** What a client asks of a bot. */
interface BotCall {
  method: StraightMethodName;
  /** As the client gave them; what makes two sends the same. */
  given: Record<string, unknown>;
  sessionKey: string | undefined;
}

/** A bot method for the runners. @throws ContractError INVALID_REQUEST by the rules of its way */
export function botCommand(
  way: CallWay,
  { method, given, sessionKey }: BotCall,
  limits: Pick<Limits, 'attachmentBytes'>,
): PlannedCommand {
  const whole = sessionKey === undefined ? given : { ...given, sessionKey };
  const params = parseParams(paramsOf(method, way, limits), whole);
  if (!isObject(params)) invalid('params must be an object.');
  return {
    name: method,
    queue: 'bot-commands',
    params,
    ...(method === 'chat.send' ? { fingerprint: fingerprint(given, sessionKey ?? '') } : {}),
  };
}

function paramsOf(
  method: StraightMethodName,
  way: CallWay,
  limits: Pick<Limits, 'attachmentBytes'>,
) {
  return isBotMethod(method)
    ? botMethodParams(method, way, limits)
    : straightOnlyMethods[method].params;
}
