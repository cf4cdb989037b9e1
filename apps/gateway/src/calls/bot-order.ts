import { straightMethods, type StraightMethodName } from '@flowly/contract';
import { bot, changes, reads, type CallOrder } from './call-order';

/** How a bot method stands to other calls of its socket. */
export function botOrder(
  method: StraightMethodName,
  name: string,
  sessionKey: string | undefined,
): CallOrder {
  const session = sessionKey === undefined ? undefined : bot(name, { session: sessionKey });
  if (method === 'chat.abort') {
    const anySession = bot(name, 'sessions');
    return { changes: true, waits: [anySession], touches: [session ?? anySession] };
  }
  if (method === 'sessions.list') return reads(bot(name, 'sessions'));
  const target = session ?? bot(name, 'settings');
  return straightMethods[method].changes ? changes(target) : reads(target);
}
