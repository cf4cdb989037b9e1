import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { ProviderSlot, Usage } from '@flowly/contract';
import type { z } from 'zod';

/** Which model, where, with which key: from the bot's own settings, never from the process's environment. */
export interface ModelTarget {
  slot: ProviderSlot;
  model: string;
  apiKey?: string;
  /** Absent: the provider's own address. */
  apiBase?: string;
}

/** What the model asks a tool to do. */
export interface ModelToolCall {
  id: string;
  name: string;
  /** As the model wrote them; not always JSON. */
  argumentsJson: string;
  /** What the provider wants to see again with this call in the same turn. */
  metadata?: SharedV3ProviderMetadata;
}

/** A file beside the user's words. Neither bytes nor address: it could not be read. */
export interface ModelFile {
  fileName: string;
  mimeType: string;
  data?: Uint8Array;
  url?: string;
}

/** Each call of an assistant's message is followed by its result, a message of the role `tool`. */
export type ModelMessage =
  | { role: 'user'; content: string; files?: readonly ModelFile[] }
  | { role: 'assistant'; content: string; toolCalls?: readonly ModelToolCall[] }
  | { role: 'tool'; content: string; toolCallId: string; toolName: string };

/** A tool as the model is told of it. */
export interface ModelTool {
  name: string;
  description: string;
  /** Of the arguments, an object. */
  params: z.ZodObject;
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
  /** Absent or empty: the model can only talk. */
  tools?: readonly ModelTool[];
  signal: AbortSignal;
  limits: ModelLimits;
}

/** Pieces of text and calls of tools, then exactly one `finish`. */
export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; call: ModelToolCall }
  | {
      type: 'finish';
      /** As the AI SDK names it: `stop`, `length`, `tool-calls`, `content-filter`, `other`… */
      finishReason: string;
      /** Null when the provider did not say. */
      usage: Usage | null;
    };
