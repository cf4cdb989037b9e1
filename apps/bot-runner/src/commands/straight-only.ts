import { statusOf } from '@flowly/agent';
import { parseParams, straightOnlyMethods } from '@flowly/contract';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import { findRun } from '@flowly/store';
import { openCommandBot, type Runner } from '../runner';

/** `chat.command`: the receipt of a run of that session (wire.md §4). */
export function readReceipt(runner: Runner): CommandHandler {
  return async (command) => {
    const { params } = straightOnlyMethods['chat.command'];
    const { sessionKey, runId } = parseParams(params, command.params);
    const { database } = await openCommandBot(runner, command);
    const run = findRun(database, runId);
    const result =
      run?.sessionKey === sessionKey
        ? { runId, status: statusOf(run), replayed: true }
        : { runId, status: 'not_found', replayed: false };
    return { result, after: { database: database.id } };
  };
}

/** A list of what old clients ask for and this product has none of. */
export function emptyList(runner: Runner, name: 'artifacts' | 'items'): CommandHandler {
  return async (command) => {
    await openCommandBot(runner, command);
    return { result: { [name]: [] }, after: AFTER_NOTHING };
  };
}
