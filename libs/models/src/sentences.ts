import { APICallError } from '@ai-sdk/provider';
import { z } from 'zod';
import type { Exchange, Fault } from './exchange';
import { ModelFailure } from './failure';
import { providerWords } from './provider-words';
import { providers, type Provider } from './providers';
import type { ModelRequest } from './request';
import { keyPlace } from './target';
import { isAboutTools } from './toolless';

/** What a provider sends in its stream when it fails there. */
const report = z.union([
  z.object({ message: z.string() }),
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error),
  z
    .object({ response: z.object({ error: z.object({ message: z.string() }) }) })
    .transform(({ response }) => response.error),
]);

/** What providers answer with to a file that they or their model do not take. */
const MAYBE_CONTENT = [400, 404, 413, 415, 422, 501];

/** An error that came as an event of the answer, not one that was thrown on the way. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';

  constructor(readonly event: unknown) {
    super('the provider reported an error');
  }
}

/** The failure of a call as a sentence for the bot's owner, from what ended it. */
export function failureOf(error: unknown, exchange: Exchange, request: ModelRequest): ModelFailure {
  const { target } = request;
  const provider = providers[target.slot];
  const status = refusedWith(error);
  if (status !== null) {
    // An answer to a wrong key is the likeliest to quote it.
    const words = status === 401 || status === 403 ? '' : providerWords(saidIn(error), target);
    const sentence = ofStatus(status, provider, target.model) + words;
    const refusesTools = isAboutTools(status, saidIn(error));
    const refusesContent = !refusesTools && MAYBE_CONTENT.includes(status);
    return new ModelFailure(sentence, {
      retryable: isPassing(status),
      refusesTools,
      refusesContent,
    });
  }
  if (exchange.fault !== null) {
    return new ModelFailure(ofFault(exchange.fault, provider, request), { retryable: true });
  }
  const sentence =
    error instanceof ReportedError
      ? `${provider.name} reported an error in its answer.${providerWords(saidIn(error), target)}`
      : `${provider.name} sent an answer that could not be read.`;
  return new ModelFailure(sentence, { retryable: true });
}

/** The body ended without a word and without its closing line. */
export function saidNothing(request: ModelRequest): ModelFailure {
  const { name } = providers[request.target.slot];
  return new ModelFailure(`${name} ended its answer before saying anything.`, { retryable: true });
}

/** The status of a refusal, also one that a provider sends inside a good response; else null. */
export function refusedWith(error: unknown): number | null {
  if (!APICallError.isInstance(error)) return null;
  return error.statusCode !== undefined && error.statusCode >= 300 ? error.statusCode : null;
}

/** Whether the same request may succeed later. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** The provider's own words; an error without data has only the SDK's. */
function saidIn(error: unknown): string | null {
  if (error instanceof ReportedError) return report.safeParse(error.event).data?.message ?? null;
  return APICallError.isInstance(error) && error.data !== undefined ? error.message : null;
}

function ofStatus(status: number, provider: Provider, model: string): string {
  const { name, key } = provider;
  if (status === 401 || status === 403)
    return `${name} refused the key (${status}). ${keyPlace(provider)}`;
  if (status === 404) return `${name} does not know the model "${model}" or the address (404).`;
  if (status === 402 || status === 429)
    return `${name} is limiting requests, or its credit is used up (${status}).`;
  if (status === 408) return `${name} took too long to take the request (408).`;
  if (status < 400)
    return `${name} is elsewhere (${status}): set the right \`providers.${key}.apiBase\`.`;
  return status >= 500
    ? `${name} has a problem of its own (${status}).`
    : `${name} refused the request (${status}).`;
}

function ofFault(fault: Fault, { name, key }: Provider, { limits }: ModelRequest): string {
  switch (fault) {
    case 'unreachable':
      return `${name} could not be reached. Check the network and \`providers.${key}.apiBase\`.`;
    case 'silent':
      return `${name} did not begin to answer within ${seconds(limits.firstByteMs)}.`;
    case 'stalled':
      return `${name} stopped in the middle of its answer and was silent for ${seconds(limits.betweenBytesMs)}.`;
    case 'broken-off':
      return `${name} broke the connection off in the middle of its answer.`;
    case 'endless':
      return `${name} sent more than an answer can hold.`;
  }
}

function seconds(ms: number): string {
  const value = ms / 1000;
  return value === 1 ? '1 second' : `${value} seconds`;
}
