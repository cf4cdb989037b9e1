import {
  botMethodParams,
  ContractError,
  ownModelSchema,
  parseParams,
  type BotMethodName,
  type SessionModel,
} from '@flowly/contract';
import { decideOnce, type CommandHandler, type ReceivedCommand } from '@flowly/delivery';
import { mediaFolder } from '@flowly/directory';
import {
  ChatMedia,
  filesOfSession,
  findSession,
  nextOpenRun,
  removeSession,
  saveSessionModel,
  type Database,
} from '@flowly/store';
import { z } from 'zod';
import { openCommandBot, type Runner } from '../runner';

const sessionSchema = z.object({ sessionKey: z.string() });
const modelSchema = sessionSchema.extend({ model: ownModelSchema });

/** `sessions.delete` (bots.md §3.2): the history goes with its files, the receipts of the turns stay. */
export function deleteSession(runner: Runner): CommandHandler {
  return async (command) => {
    const { sessionKey } = sessionSchema.parse(paramsOf('sessions.delete', command));
    const bot = await openCommandBot(runner, command);
    const { database } = bot;
    let files: string[] = [];
    await database.write(() =>
      decideOnce(database, command, () => {
        requireIdle(database, sessionKey);
        const deleted = findSession(database, sessionKey) !== null;
        files = filesOfSession(database, sessionKey);
        if (deleted) removeSession(database, sessionKey);
        return { outcome: { deleted, sessionKey } };
      }),
    );
    // What is left when this process dies here is swept.
    new ChatMedia(mediaFolder(bot)).removeFiles(files);
    return 'follows from the commit';
  };
}

/** `sessions.model.get`. */
export function getSessionModel(runner: Runner): CommandHandler {
  return async (command) => {
    const { sessionKey } = sessionSchema.parse(paramsOf('sessions.model.get', command));
    const { database } = await openCommandBot(runner, command);
    return { result: modelOf(database, sessionKey), after: { database: database.id } };
  };
}

/** `sessions.model.set`: holds from the next turn on, so not while one runs. */
export function setSessionModel(runner: Runner): CommandHandler {
  return async (command) => {
    const { sessionKey, model } = modelSchema.parse(paramsOf('sessions.model.set', command));
    const { database } = await openCommandBot(runner, command);
    await database.write(() =>
      decideOnce(database, command, () => {
        if (nextOpenRun(database, sessionKey)?.state === 'running') throw busy();
        saveSessionModel(database, sessionKey, model, Date.now());
        return { outcome: modelOf(database, sessionKey) };
      }),
    );
    return 'follows from the commit';
  };
}

/** @throws ContractError SESSION_BUSY while a turn of the session runs or waits */
export function requireIdle(database: Database, sessionKey: string): void {
  if (nextOpenRun(database, sessionKey)) throw busy();
}

function paramsOf(method: BotMethodName, command: ReceivedCommand): unknown {
  return parseParams(
    botMethodParams(method, command.straight ? 'straight' : 'rpc'),
    command.params,
  );
}

function modelOf(database: Database, sessionKey: string): SessionModel {
  const model = findSession(database, sessionKey)?.modelOverride ?? null;
  return { sessionKey, model, inherited: model === null };
}

function busy(): ContractError {
  return new ContractError('SESSION_BUSY', 'A turn of this session is not over yet.');
}
