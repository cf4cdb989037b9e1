import { endUnbegun } from '@flowly/agent';
import { botMethodParams, parseParams } from '@flowly/contract';
import { decideOnce, type CommandHandler } from '@flowly/delivery';
import { findRun, isStopped, requestAbort } from '@flowly/store';
import { z } from 'zod';
import { findCommandBot, type Runner } from '../runner';
import { wakeTurn } from '../turns/wake-turn';

const abortParams = z.object({ sessionKey: z.string().optional(), runId: z.string() });

/**
 * `chat.abort` (bots.md §3.3): the stop is a row; a waiting run ends at once, a running one by its driver. A stopped bot
 * has nothing left to abort.
 */
export function abortChat(runner: Runner): CommandHandler {
  return async (command) => {
    const schema = botMethodParams('chat.abort', command.straight ? 'straight' : 'rpc');
    const { sessionKey, runId } = abortParams.parse(parseParams(schema, command.params));
    const bot = await findCommandBot(runner, command);
    let isRequested = false;
    await bot.database.write(() =>
      decideOnce(bot.database, command, () => {
        if (isStopped(bot.database)) return { outcome: { aborted: false } };
        const at = Date.now();
        const stop = requestAbort(bot.database, runId, sessionKey ?? null, at);
        isRequested = stop === 'requested';
        const run = isRequested ? findRun(bot.database, runId) : null;
        if (run?.state === 'accepted') endUnbegun(bot, run, at);
        return { outcome: { ok: true, cancelled: isRequested } };
      }),
    );
    // Only what the row says: a run of another session goes on.
    if (isRequested) wakeTurn(runner, bot.botId, runId);
    return 'follows from the commit';
  };
}
