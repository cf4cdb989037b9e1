import { ContractError } from '@flowly/contract';
import { readProviders, readSoul, type ResolvedProvider } from '@flowly/directory';
import { ModelFailure, providers, type ModelMessage, type ModelTarget } from '@flowly/models';
import { contextMessages, findSession, type Run } from '@flowly/store';
import type { Bot } from './bot';
import { conversation } from './context';

/** What a turn asks the model. */
export interface ModelCall {
  target: ModelTarget;
  system?: string;
  messages: readonly ModelMessage[];
}

/** Newest messages a model is given; what does not fit its window is cut in a later step of the product. */
const CONTEXT_LIMIT = 200;

/**
 * Builds a turn's call from the bot's files as they are now (bots.md §1) and its session. The model: the send's, else the
 * session's, else the bot's default, else the slot's own.
 * @throws ModelFailure when no provider is chosen or its settings cannot be read
 */
export function modelCall(bot: Bot, run: Run): ModelCall {
  const provider = chosenProvider(bot);
  const soul = readSoul(bot.folder).trim();
  const session = findSession(bot.database, run.sessionKey);
  const model =
    run.modelOverride ||
    session?.modelOverride ||
    provider.model ||
    providers[provider.slot].defaultModel ||
    '';
  return {
    target: {
      slot: provider.slot,
      model,
      ...(provider.apiKey !== undefined && { apiKey: provider.apiKey }),
      ...(provider.apiBase !== undefined && { apiBase: provider.apiBase }),
    },
    ...(soul !== '' && { system: soul }),
    messages: messagesOf(bot, run),
  };
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

function messagesOf(bot: Bot, run: Run): ModelMessage[] {
  return conversation(contextMessages(bot.database, run.sessionKey, CONTEXT_LIMIT));
}
