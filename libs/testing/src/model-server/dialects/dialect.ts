import { z } from 'zod';
import type { Usage } from '@flowly/contract';
import type { SpokenToolCall } from '../answer';
import type { CallMessage } from '../model-call';

/** What a request asks, whatever its provider's shape. */
export interface Asked {
  model: string;
  messages: CallMessage[];
  tools: string[];
}

/** One provider's way of streaming an answer: the frames of its SSE, written out. */
export interface Dialect {
  matches(path: string): boolean;
  read(path: string, body: unknown): Asked;
  open(model: string): string;
  piece(text: string): string;
  error(message: string): string;
  /** Calls of tools, after the text; '' for none. */
  calls(calls: readonly SpokenToolCall[]): string;
  /** The closing line and the usage. */
  close(usage: Usage | null, hasCalls: boolean): string;
}

export function frame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

export function namedFrame(data: { type: string; [field: string]: unknown }): string {
  return `event: ${data.type}\n${frame(data)}`;
}

const parts = z.array(z.object({ text: z.string().default('') }));

/** Text that a provider takes as a string or as a list of parts. */
export const content = z.union([
  z.null().transform(() => ''),
  z.string(),
  parts.transform((list) => list.map((part) => part.text).join('')),
]);

export const namedTools = z
  .array(z.object({ name: z.string() }))
  .default([])
  .transform((tools) => tools.map(({ name }) => name));
