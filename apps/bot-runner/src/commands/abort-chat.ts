import { endUnbegun } from '@flowly/agent';
import { botMethodParams, isInternalSession, parseParams } from '@flowly/contract';
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
        const run = findRun(bot.database, runId);
        // What the host drives itself has other ways to be stopped, and is nothing that clients know of.
        if (run && isInternalSession(run.sessionKey))
          return { outcome: { ok: true, cancelled: false } };
        const stop = requestAbort(bot.database, runId, sessionKey ?? null, at);
        isRequested = stop === 'requested';
        if (isRequested && run?.state === 'accepted') endUnbegun(bot, run, at);
        return { outcome: { ok: true, cancelled: isRequested } };
      }),
    );
    // Only what the row says: a run of another session goes on.
    if (isRequested) wakeTurn(runner, bot.botId, runId);
    return 'follows from the commit';
  };
}
