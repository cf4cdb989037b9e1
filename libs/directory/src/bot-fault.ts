import { ContractError } from '@flowly/contract';
import { isStoppedAt, STOPPED_TEXT } from '@flowly/store';
import { readConfig } from './bot-config';
import { readinessOf } from './descriptor';
import type { Bot } from './directory';

/** Why a bot cannot be used now, for a reader; null when it can (groups.md §9, readiness). */
export function botFault(bot: Bot | null): string | null {
  if (bot === null) return 'This bot no longer exists.';
  return stopFault(bot) ?? startFault(bot);
}

/** Why a bot could not be used even if nobody had stopped it: its configuration and its provider. */
export function startFault(bot: Bot): string | null {
  if (!isConfigReadable(bot)) {
    return "This bot's config.json cannot be read. Mend it, or choose its provider and key anew.";
  }
  return readinessOf(bot).runnable
    ? null
    : 'This bot has no model provider that can be used. Choose one and give it a key in its settings.';
}

function stopFault({ folder }: Bot): string | null {
  try {
    return isStoppedAt(folder) ? STOPPED_TEXT : null;
  } catch {
    // Whose it is and what is wrong with it is said by the runner, which cannot open it either.
    return "This bot's database cannot be read.";
  }
}

function isConfigReadable({ folder }: Bot): boolean {
  try {
    readConfig(folder);
    return true;
  } catch (error) {
    if (error instanceof ContractError) return false;
    throw error;
  }
}
