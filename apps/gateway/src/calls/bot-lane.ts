import type { StraightMethodName } from '@flowly/contract';
import type { Plan } from './plan';

/**
 * Where the answer to a bot method stands among the events of its conversation. What says how a run is at this moment is
 * a snapshot: `chat.inflight`, and a send that may be a repeated one (design rule 4).
 * @param lane topic of the conversation; undefined when the call is about none
 */
export function botLane(
  method: StraightMethodName,
  given: Record<string, unknown>,
  lane: string | undefined,
): Pick<Plan, 'lane' | 'snapshot'> {
  if (lane === undefined) return {};
  const mayRepeat = method === 'chat.send' && typeof given['idempotencyKey'] === 'string';
  return { lane, snapshot: method === 'chat.inflight' || mayRepeat };
}
