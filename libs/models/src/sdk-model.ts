import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { exchangeFetch } from './exchange';
import { providers } from './providers';
import type { ModelTarget } from './request';
import { baseOf } from './target';

/** How a provider is spoken to. */
export type Dialect = 'anthropic' | 'gemini' | 'responses' | 'compatible';

/** Bots × models in use at once; a model costs about a millisecond to make. */
const CACHED_MODELS = 64;
const cache = new Map<string, LanguageModelV3>();

/**
 * OpenAI itself is asked through Responses, which has all of its models. Any other address in its
 * slot is a proxy or a server of the owner's, and what all of those speak is chat completions.
 */
export function dialectOf(target: ModelTarget): Dialect {
  if (target.slot === 'anthropic' || target.slot === 'gemini') return target.slot;
  return target.slot === 'openai' && baseOf(target) === providers.openai.apiBase
    ? 'responses'
    : 'compatible';
}

/** The SDK's model of a target, with its key and address and nothing of the environment. */
export function sdkModel(dialect: Dialect, target: ModelTarget): LanguageModelV3 {
  const id = JSON.stringify([dialect, target.slot, baseOf(target), target.model, target.apiKey]);
  const model = cache.get(id) ?? makeModel(dialect, target);
  cache.delete(id);
  cache.set(id, model);
  const oldest = cache.keys().next().value;
  if (cache.size > CACHED_MODELS && oldest !== undefined) cache.delete(oldest);
  return model;
}

function makeModel(dialect: Dialect, target: ModelTarget): LanguageModelV3 {
  const baseURL = baseOf(target);
  // '' and not undefined: for undefined the SDK would look into the environment.
  const settings = { baseURL, apiKey: target.apiKey ?? '', fetch: exchangeFetch };
  switch (dialect) {
    case 'anthropic':
      return createAnthropic(settings)(target.model);
    case 'gemini':
      return createGoogleGenerativeAI(settings)(target.model);
    case 'responses':
      return createOpenAI(settings).responses(target.model);
    case 'compatible':
      return createOpenAICompatible({
        name: target.slot,
        baseURL,
        fetch: exchangeFetch,
        includeUsage: true,
        ...(target.apiKey !== undefined && { apiKey: target.apiKey }),
      }).chatModel(target.model);
  }
}
