import { ContractError } from '@flowly/contract';
import { readProviders, readSoul, type ResolvedProvider } from '@flowly/directory';
import {
  contextWindow,
  messageTokens,
  ModelFailure,
  providers,
  type ContextWindow,
  type ModelMessage,
  type ModelTarget,
} from '@flowly/models';
import {
  contextMessages,
  findSession,
  type ContextMessage,
  type ContextPage,
  type GroupMedia,
  type Run,
} from '@flowly/store';
import type { Bot } from './bot';
import { conversation } from './context';
import { filesToGive } from './given-files';

/** What a turn asks the model. */
export interface ModelCall {
  target: ModelTarget;
  system?: string;
  messages: readonly ModelMessage[];
  window: ContextWindow;
}

/** Messages that are read at once: a long session is read only as far back as the model's window reaches. */
const PAGE = 100;
/** What of the window is for the question; the rest is for the answer, and for what a guess may miss. */
const SHARE = 2 / 3;
/** What is for the conversation however large the system prompt is: without it there were no sense in asking. */
const LEAST_SHARE = 1 / 4;

/**
 * Builds a turn's call from the bot's files as they are now (bots.md §1) and its session. The model: the send's, else the
 * session's, else the bot's default, else the slot's own.
 * @throws ModelFailure when no provider is chosen or its settings cannot be read
 */
export async function modelCall(
  bot: Bot,
  run: Run,
  groupMedia: Pick<GroupMedia, 'read'>,
): Promise<ModelCall> {
  const target = modelTarget(bot, run);
  const soul = readSoul(bot.folder).trim();
  const window = contextWindow(target);
  const stored = remembered(bot, run.sessionKey, roomFor(window));
  const given = await filesToGive(bot, run, stored, groupMedia);
  return {
    target,
    ...(soul !== '' && { system: soul }),
    messages: conversation(stored, given),
    window,
  };
}

/** Which model a run asks. @throws ModelFailure as {@link modelCall} */
export function modelTarget(bot: Bot, run: Run): ModelTarget {
  const provider = chosenProvider(bot);
  const session = findSession(bot.database, run.sessionKey);
  const model =
    run.modelOverride ||
    session?.modelOverride ||
    provider.model ||
    providers[provider.slot].defaultModel ||
    '';
  return {
    slot: provider.slot,
    model,
    ...(provider.apiKey !== undefined && { apiKey: provider.apiKey }),
    ...(provider.apiBase !== undefined && { apiBase: provider.apiBase }),
  };
}

/** Tokens for what was said, where the system prompt and the tools take so many. */
export function roomFor({ tokens }: ContextWindow, taken = 0): number {
  return Math.floor(Math.max(tokens * SHARE - taken, tokens * LEAST_SHARE));
}

function chosenProvider(bot: Bot): ResolvedProvider {
  try {
    const { resolved } = readProviders(bot.folder);
    if (resolved) return resolved;
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    throw new ModelFailure(
      "The bot's config.json cannot be read. Mend it or set the provider anew.",
      {
        retryable: false,
      },
    );
  }
  throw new ModelFailure(
    'No model provider is chosen and none has a key. Set one with the bot’s settings, or put its key into config.json or .env of the bot.',
    { retryable: false },
  );
}

/** The newest of a session, oldest first: all of it, or more than there is room for. */
function remembered(bot: Bot, sessionKey: string, room: number): ContextMessage[] {
  const read: ContextMessage[] = [];
  let before: number | null = Number.MAX_SAFE_INTEGER;
  let tokens = 0;
  while (before !== null && tokens <= room) {
    const page: ContextPage = contextMessages(bot.database, sessionKey, { limit: PAGE, before });
    tokens += conversation(page.messages).reduce((sum, each) => sum + messageTokens(each), 0);
    read.unshift(...page.messages);
    before = page.before;
  }
  // Where there is more, what was read may begin in the middle of an answer.
  const first = before === null ? 0 : read.findIndex(({ role }) => role === 'user');
  return read.slice(Math.max(0, first));
}
