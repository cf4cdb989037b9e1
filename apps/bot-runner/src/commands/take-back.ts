import { parseParams, straightOnlyMethods } from '@flowly/contract';
import { decideOnce, type CommandHandler } from '@flowly/delivery';
import { mediaFolder } from '@flowly/directory';
import {
  ChatMedia,
  clearHistory,
  takeBackExchange,
  type Database,
  type TakenBack,
} from '@flowly/store';
import { openCommandBot, type Runner } from '../runner';
import { requireIdle } from './sessions';

/** `chat.clear` (wire.md §4): the whole history goes with its files; the session stays. */
export function clearChat(runner: Runner): CommandHandler {
  return takingBack(runner, (database, sessionKey) => {
    const { mediaIds, removed } = clearHistory(database, sessionKey);
    return { mediaIds, outcome: { ok: true, removed } };
  });
}

/** `chat.undo`: the last exchange goes. */
export function undoChat(runner: Runner): CommandHandler {
  return takingBack(runner, (database, sessionKey) => {
    const { mediaIds, removed } = takeBackExchange(database, sessionKey) ?? NOTHING;
    return { mediaIds, outcome: { ok: removed > 0, removed } };
  });
}

/** `chat.retry`: as `chat.undo`, and what the user had said is given back; it starts nothing. */
export function retryChat(runner: Runner): CommandHandler {
  return takingBack(runner, (database, sessionKey) => {
    const { mediaIds, removed, text } = takeBackExchange(database, sessionKey) ?? NOTHING;
    return { mediaIds, outcome: { ok: removed > 0, text, removed } };
  });
}

const NOTHING = { removed: 0, mediaIds: [], text: '' };

type Taking = (
  database: Database,
  sessionKey: string,
) => Pick<TakenBack, 'mediaIds'> & { outcome: object };

function takingBack(runner: Runner, take: Taking): CommandHandler {
  return async (command) => {
    const { params } = straightOnlyMethods['chat.clear'];
    const { sessionKey } = parseParams(params, command.params);
    const bot = await openCommandBot(runner, command);
    let files: string[] = [];
    await bot.database.write(() =>
      decideOnce(bot.database, command, () => {
        requireIdle(bot.database, sessionKey);
        const { mediaIds, outcome } = take(bot.database, sessionKey);
        files = mediaIds;
        return { outcome };
      }),
    );
    // What is left when this process dies here is swept.
    new ChatMedia(mediaFolder(bot)).removeFiles(files);
    return 'follows from the commit';
  };
}
