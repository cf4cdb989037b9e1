import type { BotStatus } from '@flowly/contract';
import type { OpenBot } from '@flowly/directory';
import { activeRunCount, isStopped, lastUsedAt, needsInput } from '@flowly/store';

/** What a bot is doing (bots.md §2, `profiles.statuses`). */
export function statusOf({ name, botId, database }: OpenBot): BotStatus {
  const used = lastUsedAt(database);
  const needed = needsInput(database);
  return {
    profile: name,
    botId,
    state: isStopped(database) ? 'stopped' : 'connected',
    owned: true,
    activeRuns: activeRunCount(database),
    ...(used !== null && { lastUsedAt: used }),
    ...(needed && { needsInput: needed }),
  };
}
