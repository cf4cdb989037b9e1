import { readinessOf } from './descriptor';
import type { Bot } from './directory';

/** Why a bot cannot be used now, for a reader; null when it can (groups.md §9, readiness). */
export function botFault(bot: Bot | null): string | null {
  if (bot === null) return 'This bot no longer exists.';
  return readinessOf(bot).runnable
    ? null
    : 'This bot has no model provider that can be used. Choose one and give it a key in its settings.';
}
