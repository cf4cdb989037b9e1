import { WebSocket, type ClientOptions, type RawData } from 'ws';
import {
  findMethod,
  isObject,
  type BotMethodName,
  type EventFrame,
  type GroupEvent,
  type MethodName,
  type MethodResult,
  type methods,
} from '@flowly/contract';
import { CallError } from './call-error';
import {
  assertFits,
  assertResultOf,
  isErrorBody,
  isEventFrame,
  whyNoEvent,
  type ErrorShape,
} from './frame-checks';
import { RunWatch } from './run-watch';
import { until } from './until';

export interface ConnectOptions {
  clientId?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** Further options of the `ws` socket. */
  socket?: ClientOptions;
}

/** What a method answers, by its name on the wire. */
type Results = {
  [N in MethodName as (typeof methods)[N]['wire']]: MethodResult<N>;
};

type Pending = {
  resolve: (result: Record<string, unknown>) => void;
  reject: (error: Error) => void;
};

const CALL_MS = 15_000;
const EVENT_MS = 10_000;

/**
 * Opens a socket on a gateway.
 *
 * @throws Error whose message holds the HTTP status when the upgrade is refused
 */
export async function connect(
  gateway: { url: string },
  options: ConnectOptions = {},
): Promise<Client> {
  const { clientId, query = {}, headers = {} } = options;
  const address = new URL('/ws', gateway.url.replace(/^http/, 'ws'));
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  if (clientId !== undefined) address.searchParams.set('clientId', clientId);
  const socket = new WebSocket(address, {
    ...options.socket,
    headers,
    maxPayload: 256 * 1024 * 1024,
  });
  const client = new Client(socket);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (request, response) => {
      request.destroy();
      reject(new Error(`the upgrade was refused: ${response.statusCode}`));
    });
  });
  return client;
}

/**
 * A client over a real socket. Every event and result is held against the contract's schema, and the events of runs
 * against its invariants.
 */
export class Client {
  /** Every frame as it came, parsed, in order. */
  readonly frames: unknown[] = [];
  /** The event frames among them. */
  readonly events: EventFrame[] = [];
  /** Resolves when the socket is closed, from whichever side. */
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #pending = new Map<string, Pending>();
  readonly #faults: string[] = [];
  readonly #runs = new RunWatch();
  #count = 0;

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data: RawData) => this.#take(data));
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        for (const { reject } of this.#pending.values())
          reject(new Error(`the socket was closed (${code}) before the answer`));
        this.#pending.clear();
        resolve({ code, reason: reason.toString() });
      });
    });
  }

  /**
   * Calls a method and waits for its answer.
   *
   * @throws CallError for an error frame; Error without an answer in time or on a closed socket
   */
  call<W extends keyof Results>(
    method: W,
    params?: unknown,
    timeoutMs?: number,
  ): Promise<Results[W]>;
  call(method: string, params?: unknown, timeoutMs?: number): Promise<Record<string, unknown>>;
  async call(method: string, params?: unknown, timeoutMs = CALL_MS): Promise<object> {
    const result = await this.#request(method, params, timeoutMs);
    const known = findMethod(method);
    if (known !== null) assertFits(known.method.result, result, `the result of ${method}`);
    return result;
  }

  /** `profiles.rpc`; `more` holds its further params (`timeoutMs`, `expectedBotId`, …). */
  async rpc<N extends BotMethodName>(
    bot: string,
    method: N,
    params?: unknown,
    more?: Record<string, unknown>,
  ): Promise<MethodResult<N>> {
    const result = await this.#request(
      'profiles.rpc',
      { name: bot, method, params, ...more },
      CALL_MS,
    );
    assertResultOf(method, result);
    return result;
  }

  /** The error a call is expected to end in. */
  async refusal(method: string, params?: unknown): Promise<CallError> {
    try {
      await this.call(method, params);
    } catch (error) {
      if (error instanceof CallError) return error;
      throw error;
    }
    throw new Error(`${method} was not refused`);
  }

  /** Sends any text, or binary data, as one message. */
  raw(data: string | Buffer): void {
    this.socket.send(data);
  }

  /** A place in `events`, to look only at what comes after it. */
  get mark(): number {
    return this.events.length;
  }

  /** The first event, from `since` on, that fits; already there or yet to come. */
  async waitFor(
    fits: (frame: EventFrame) => boolean,
    timeoutMs = EVENT_MS,
    since = 0,
  ): Promise<EventFrame> {
    return until(
      () => this.events.slice(since).find(fits),
      timeoutMs,
      () => `no such event among ${this.events.length - since}: ${this.#lastEvents()}`,
    );
  }

  /** `profile.room` events of one group, from `since` on. */
  groupEvents(groupId: string, since = 0): GroupEvent[] {
    return this.events
      .slice(since)
      .flatMap((frame) =>
        frame.event === 'profile.room' && frame.data?.roomId === groupId ? [frame.data] : [],
      );
  }

  /** As {@link waitFor}, among one group's events. */
  async waitForGroup(
    groupId: string,
    fits: (event: GroupEvent) => boolean,
    options: { timeoutMs?: number; since?: number } = {},
  ): Promise<GroupEvent> {
    const { timeoutMs = EVENT_MS, since = 0 } = options;
    return until(
      () => this.groupEvents(groupId, since).find(fits),
      timeoutMs,
      () => `no such event of the group: ${this.#lastEvents()}`,
    );
  }

  /** Waits for a frame of any kind. */
  async waitForFrame(fits: (frame: unknown) => boolean, timeoutMs = EVENT_MS): Promise<unknown> {
    return until(
      () => this.frames.find((frame) => fits(frame)) ?? undefined,
      timeoutMs,
      () => `no such frame among ${this.frames.length}`,
    );
  }

  /** @throws Error when a frame did not have the contract's shape or broke an invariant of its run */
  assertFramesFit(): void {
    if (this.#faults.length > 0) throw new Error(this.#faults.slice(0, 5).join('\n'));
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }

  async #request(
    method: string,
    params: unknown,
    timeoutMs: number,
  ): Promise<Record<string, unknown>> {
    const id = `r-${++this.#count}`;
    const answer = new Promise<Record<string, unknown>>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`${method} has no answer after ${timeoutMs} ms`);
      timer = setTimeout(reject, timeoutMs, error);
    });
    this.socket.send(JSON.stringify({ type: 'rpc', id, method, params }));
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      throw error instanceof RefusedAnswer ? error.toCallError(method) : error;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  #take(data: RawData): void {
    const frame: unknown = JSON.parse(data.toString());
    this.frames.push(frame);
    if (!isObject(frame)) {
      this.#faults.push(`a frame that is no object: ${String(data)}`);
    } else if (frame['type'] === 'event') {
      if (isEventFrame(frame)) this.#takeEvent(frame);
      else this.#faults.push(whyNoEvent(frame));
    } else if (frame['type'] === 'rpc') {
      this.#answer(frame);
    }
  }

  #takeEvent(frame: EventFrame): void {
    this.events.push(frame);
    const fault = this.#runs.take(frame);
    if (fault !== null) this.#faults.push(fault);
  }

  #answer({ id, result, error }: Record<string, unknown>): void {
    const pending = this.#pending.get(String(id));
    if (isObject(result) && error === undefined) pending?.resolve(result);
    else if (result === undefined && isErrorBody(error)) pending?.reject(new RefusedAnswer(error));
    else this.#faults.push(`an answer with neither result nor error, or both: ${String(id)}`);
  }

  #lastEvents(): string {
    const named = this.events.map((frame) =>
      frame.event === 'profile.room'
        ? `${frame.data?.type}${frame.data?.profile ? `(${frame.data.profile})` : ''}`
        : frame.event === 'chat'
          ? `chat ${frame.data?.state}`
          : frame.event === 'profile.event'
            ? `profile.event ${frame.data?.type}`
            : frame.event,
    );
    return named.slice(-20).join(', ') || 'none';
  }
}

/** An error frame before it is known which method it answers. */
class RefusedAnswer extends Error {
  constructor(readonly body: ErrorShape) {
    super(body.message);
  }

  toCallError(method: string): CallError {
    return new CallError(method, this.body.code, this.body.message, this.body.retryable);
  }
}
