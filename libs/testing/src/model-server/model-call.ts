import type { IncomingHttpHeaders } from 'node:http';

/** What was said, in one shape for all providers; the result of a tool has the role `tool`. */
export interface CallMessage {
  role: string;
  content: string;
  /** Names of the tools the assistant called. */
  toolCalls?: readonly string[];
}

/** A request as the server got it. Times are milliseconds since the epoch, with fractions. */
export interface ModelCall {
  readonly model: string;
  readonly path: string;
  readonly at: number;
  /** The system prompt, if any, comes first with the role `system`. */
  readonly messages: readonly CallMessage[];
  /** Names of the tools the model may call. */
  readonly tools: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** When each piece of text was written. */
  readonly pieceTimes: number[];
  /** How the exchange ended: all written, or the client or a fault closed the connection first. */
  readonly ended: Promise<'completed' | 'closed'>;
}

export function now(): number {
  return performance.timeOrigin + performance.now();
}
