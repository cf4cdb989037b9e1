import { callOnce } from './call';
import { demoModel } from './demo';
import { Exchange } from './exchange';
import { ModelAborted, ModelFailure } from './failure';
import { fitFiles, hasFiles, withoutFiles } from './files';
import { pause } from './pause';
import type { ModelEvent, ModelRequest } from './request';
import { dialectOf, sdkModel, type Dialect } from './sdk-model';
import { failureOf, isPassing, refusedWith } from './sentences';
import { checkTarget } from './target';
import { refusingTools, withoutTools } from './toolless';

/** A provider that asks for more patience than this is not waited for. */
const LONGEST_RETRY_AFTER_MS = 5_000;

/**
 * Asks a model and streams its answer: pieces of text, calls of tools, then exactly one `finish`. Tried again only
 * while nothing was said, and always in bounded time (`limits`). Leaving the loop early frees the
 * connection.
 * @throws ModelFailure when the model cannot answer; text already given stays given.
 * @throws ModelAborted when `request.signal` ended it.
 */
export async function* streamModel(request: ModelRequest): AsyncGenerator<ModelEvent> {
  if (request.signal.aborted) throw new ModelAborted();
  if (request.target.slot === 'demo') {
    yield* demoModel(request);
    return;
  }
  checkTarget(request.target);
  const dialect = dialectOf(request.target);
  if (request.tools?.length && !refusingTools.has(request.target)) {
    try {
      yield* streamDialect(dialect, request);
      return;
    } catch (error) {
      if (!(error instanceof ModelFailure && error.refusesTools)) throw error;
      refusingTools.add(request.target);
    }
  }
  yield* streamDialect(dialect, withoutTools(request));
}

/**
 * `streamModel` for a provider that is spoken to in this dialect. Its model gets the files that it may take; when they are
 * refused it is asked without them, told that they are there.
 */
export async function* streamDialect(
  dialect: Dialect,
  request: ModelRequest,
): AsyncGenerator<ModelEvent> {
  const fitting = fitFiles(dialect, request);
  if (hasFiles(fitting)) {
    let spoke = false;
    try {
      for await (const event of streamTries(dialect, fitting)) {
        spoke = true;
        yield event;
      }
      return;
    } catch (error) {
      if (spoke || !(error instanceof ModelFailure && error.refusesContent)) throw error;
    }
  }
  yield* streamTries(dialect, withoutFiles(fitting));
}

async function* streamTries(dialect: Dialect, request: ModelRequest): AsyncGenerator<ModelEvent> {
  const { limits, signal } = request;
  const deadline = performance.now() + limits.firstByteMs;
  const model = sdkModel(dialect, request.target);
  for (let retry = 0; ; retry++) {
    const firstByteMs = Math.max(1, deadline - performance.now());
    const exchange = new Exchange({ ...limits, firstByteMs }, signal);
    let spoke = false;
    let wait: number;
    try {
      for await (const event of callOnce(model, request, exchange)) {
        if (signal.aborted) throw new ModelAborted();
        spoke = true;
        yield event;
      }
      return;
    } catch (error) {
      if (signal.aborted) throw new ModelAborted();
      if (error instanceof ModelFailure) throw error;
      wait = waitBefore(retry, exchange, request);
      const again = !spoke && retry < limits.maxRetries && isWorthRetrying(error, exchange);
      if (!again || wait > LONGEST_RETRY_AFTER_MS || performance.now() + wait >= deadline) {
        throw failureOf(error, exchange, request);
      }
    } finally {
      exchange.close();
    }
    await pause(wait, signal);
  }
}

function isWorthRetrying(error: unknown, exchange: Exchange): boolean {
  const status = refusedWith(error);
  return status === null ? exchange.fault === 'unreachable' : isPassing(status);
}

function waitBefore(retry: number, { retryAfter }: Exchange, { limits }: ModelRequest): number {
  const own = Math.min(limits.retryDelayMs * 2 ** retry, LONGEST_RETRY_AFTER_MS);
  if (retryAfter === null) return own;
  const seconds = Number(retryAfter);
  const asked = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(asked) ? own : Math.max(0, asked);
}
