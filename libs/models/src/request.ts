import type { ProviderSlot, Usage } from '@flowly/contract';

/** Which model, where, with which key: from the bot's own settings, never from the process's environment. */
export interface ModelTarget {
  slot: ProviderSlot;
  model: string;
  apiKey?: string;
  /** Absent: the provider's own address. */
  apiBase?: string;
}

export interface ModelMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** Milliseconds, and how often a call that has said nothing yet is tried again. */
export interface ModelLimits {
  /** From the request to the first byte of the answer, all tries together. */
  firstByteMs: number;
  betweenBytesMs: number;
  maxRetries: number;
  /** Before the first retry; doubles with each. */
  retryDelayMs: number;
}

export interface ModelRequest {
  target: ModelTarget;
  system?: string;
  messages: readonly ModelMessage[];
  signal: AbortSignal;
  limits: ModelLimits;
}

/** Pieces of text, then exactly one `finish`. */
export type ModelEvent =
  | { type: 'text'; text: string }
  | {
      type: 'finish';
      /** As the AI SDK names it: `stop`, `length`, `content-filter`, `other`… */
      finishReason: string;
      /** Null when the provider did not say. */
      usage: Usage | null;
    };
