import {
  AISDKError,
  InvalidResponseDataError,
  TypeValidationError,
  type LanguageModelV3,
  type LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import type { Exchange } from './exchange';
import { callOf, promptOf, toolsOf } from './prompt';
import type { ModelEvent, ModelRequest } from './request';
import { ReportedError, saidNothing } from './sentences';
import { normaliseUsage } from './usage';

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;

/**
 * One try of a call. The model's own `doStream` and not `streamText`: measured with 120 streams of
 * 100 tokens, 105 against 200 µs of CPU per token, and of what streamText adds (steps, tool loop,
 * retries) the turn decides everything itself, since it must be able to wait for a person.
 */
export async function* callOnce(
  model: LanguageModelV3,
  request: ModelRequest,
  exchange: Exchange,
): AsyncGenerator<ModelEvent> {
  const { stream } = await model.doStream({
    prompt: promptOf(request),
    ...(request.tools?.length && { tools: toolsOf(request.tools) }),
    abortSignal: exchange.signal,
    // OpenAI keeps what it is told unless asked not to; only its own model reads this.
    providerOptions: { openai: { store: false } },
  });
  const reader = stream.getReader();
  let finish: Finish | null = null;
  let spoke = false;
  for (;;) {
    const { done, value: part } = await reader.read();
    if (done) break;
    if (part.type === 'text-delta' && part.delta !== '') {
      spoke = true;
      yield { type: 'text', text: part.delta };
    } else if (part.type === 'tool-call' && part.providerExecuted !== true) {
      spoke = true;
      yield { type: 'tool-call', call: callOf(part) };
    } else if (part.type === 'finish') {
      finish = part;
    } else if (part.type === 'error' && !isHarmless(part.error, exchange)) {
      throw AISDKError.isInstance(part.error) ? part.error : new ReportedError(part.error);
    }
  }
  const reason = ownReason(finish);
  if (!spoke && reason === null) throw saidNothing(request);
  yield {
    type: 'finish',
    finishReason: reason ?? 'other',
    usage: finish && normaliseUsage(finish.usage),
  };
}

/**
 * Well-formed events of a kind the SDK does not know come with new versions of a provider. And that
 * the closing line is missing, which one of the SDK's models calls an error, is seen at the end.
 */
function isHarmless(error: unknown, exchange: Exchange): boolean {
  if (TypeValidationError.isInstance(error)) return true;
  return exchange.ended && InvalidResponseDataError.isInstance(error);
}

/** Why the provider ended the answer; null if it did not: the SDK makes a finish also where none came. */
function ownReason(finish: Finish | null): string | null {
  if (finish === null) return null;
  const { unified, raw } = finish.finishReason;
  const made = raw === undefined && (unified === 'other' || unified === 'error');
  return made ? null : unified;
}
