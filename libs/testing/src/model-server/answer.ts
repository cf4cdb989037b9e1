import type { Usage } from '@flowly/contract';

/** A piece of text, or something to wait for before the next one. */
export type Piece = string | Promise<unknown>;

/** What goes wrong; `after` counts pieces of text sent before it (absent: all of them). */
export type Fault =
  | { kind: 'status'; status: number; body?: string; headers?: Record<string, string> }
  | { kind: 'hang-before-headers' }
  | { kind: 'hang'; after?: number }
  /** The connection is reset; with `after: 0` before the headers. */
  | { kind: 'reset'; after?: number }
  | { kind: 'broken-json'; after?: number }
  /** The provider reports an error inside its stream. */
  | { kind: 'error-event'; message: string; after?: number }
  /** The body ends cleanly, without its closing line. */
  | { kind: 'no-close'; after?: number };

/** A tool the model calls; the id is made when none is given. */
export interface ScriptedToolCall {
  id?: string;
  name: string;
  /** A string goes out as it is, also when it is no JSON. */
  arguments: Record<string, unknown> | string;
}

export interface Answer {
  /** A string is sent word by word, a list piece by piece. */
  text?: string | readonly Piece[];
  /** Sent after the text. */
  toolCalls?: readonly ScriptedToolCall[];
  /** Prompt tokens include the cache's, in every dialect; null: none is sent; absent: counted from the text. */
  usage?: Usage | null;
  /** Piece n is due n times this long after the first, so a slow timer does not add up. */
  tokenDelayMs?: number;
  /** Waited for before the headers. */
  gate?: Promise<unknown>;
  fault?: Fault;
}

export function piecesOf(answer: Answer): readonly Piece[] {
  if (typeof answer.text !== 'string') return answer.text ?? [];
  return answer.text.match(/\S+\s*|\s+/g) ?? [];
}

export function usageOf(answer: Answer): Usage | null {
  if (answer.usage !== undefined) return answer.usage;
  const completion = piecesOf(answer).filter((piece) => typeof piece === 'string').length;
  return {
    prompt_tokens: 10,
    completion_tokens: completion,
    total_tokens: 10 + completion,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  };
}

let calls = 0;

/** The tool calls as they go out, each with an id. */
export function callsOf(answer: Answer): SpokenToolCall[] {
  return (answer.toolCalls ?? []).map(({ id, name, arguments: given }) => ({
    id: id ?? `call_${++calls}`,
    name,
    argumentsJson: typeof given === 'string' ? given : JSON.stringify(given),
  }));
}

export interface SpokenToolCall {
  id: string;
  name: string;
  argumentsJson: string;
}
