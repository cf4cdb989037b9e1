import { inflightOf } from '@flowly/agent';
import { botMethodParams, parseParams, sessionsListParamsSchema } from '@flowly/contract';
import { z } from 'zod';
import type { CommandHandler } from '@flowly/delivery';
import { chatHistory, sessionsList } from '@flowly/store';
import { openCommandBot, type Runner } from '../runner';

const sessionQuery = z.object({ sessionKey: z.string() });

const historyQuery = z.object({
  sessionKey: z.string(),
  limit: z.number().optional(),
  before: z.string().optional(),
});

/** `chat.history` (bots.md §3.3). */
export function readHistory(runner: Runner): CommandHandler {
  return async (command) => {
    const schema = botMethodParams('chat.history', command.straight ? 'straight' : 'rpc');
    const query = historyQuery.parse(parseParams(schema, command.params));
    const { database } = await openCommandBot(runner, command);
    return { result: chatHistory(database, query), after: { database: database.id } };
  };
}

/** `chat.inflight` (bots.md §3.3). */
export function readInflight(runner: Runner): CommandHandler {
  return async (command) => {
    const schema = botMethodParams('chat.inflight', command.straight ? 'straight' : 'rpc');
    const { sessionKey } = sessionQuery.parse(parseParams(schema, command.params));
    const bot = await openCommandBot(runner, command);
    // What was decided before this call is told before its answer.
    await runner.relays.of(bot.database).drain();
    const { result, after } = await inflightOf(bot, sessionKey, runner.bus.live);
    return { result, after: { event: after } };
  };
}

/** `sessions.list` (bots.md §3.2). */
export function listSessions(runner: Runner): CommandHandler {
  return async (command) => {
    const params = parseParams(sessionsListParamsSchema, command.params);
    const { database } = await openCommandBot(runner, command);
    const way = { straight: command.straight === true };
    return { result: sessionsList(database, params, way), after: { database: database.id } };
  };
}
