import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { ModelLimits } from './request';

/** What ended an exchange that did not end well. */
export type Fault = 'unreachable' | 'silent' | 'stalled' | 'broken-off' | 'endless';

/** More than any answer; a server that never stops must not fill the memory. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Chunks read ahead of the SDK; past it the socket waits. */
const CHUNKS_AHEAD = 16;

const agents = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
};
const exchanges = new WeakMap<AbortSignal, Exchange>();

/**
 * One call's request and answer, in bounded time: watches for the first byte and between bytes, and
 * remembers what went wrong, since the SDK wraps and rewords errors. Its requests go through
 * node:http: the web streams of fetch cost as much CPU per token as everything the SDK does
 * (25 of 100 µs), and it must follow no redirect, which could carry the key to another host.
 */
export class Exchange {
  fault: Fault | null = null;
  /** `Retry-After` of the last response. */
  retryAfter: string | null = null;
  /** Whether the body came to its end. */
  ended = false;
  readonly #identity = new AbortController();
  readonly #stop = (): void => this.#destroy();
  #live: ClientRequest | IncomingMessage | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: Pick<ModelLimits, 'firstByteMs' | 'betweenBytesMs'>,
    private readonly caller: AbortSignal,
  ) {
    exchanges.set(this.signal, this);
    caller.addEventListener('abort', this.#stop, { once: true });
  }

  /** To be given to the SDK: by it `exchangeFetch` knows whose request it is. */
  get signal(): AbortSignal {
    return this.#identity.signal;
  }

  /** Frees the connection, whatever state it is in. */
  close(): void {
    this.caller.removeEventListener('abort', this.#stop);
    this.#destroy();
  }

  async post(url: URL, headers: Record<string, string>, body: string): Promise<Response> {
    this.ended = false;
    this.#watch('silent', this.limits.firstByteMs);
    const incoming = await this.#send(url, headers, body);
    this.#live = incoming;
    this.retryAfter = incoming.headers['retry-after'] ?? null;
    const status = incoming.statusCode ?? 0;
    const stream = this.#body(incoming);
    const type = incoming.headers['content-type'] ?? '';
    return new Response(status === 204 ? null : stream, {
      status,
      headers: { 'content-type': type },
    });
  }

  #send(url: URL, headers: Record<string, string>, body: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const secure = url.protocol === 'https:';
      const request = (secure ? https : http).request(url, {
        method: 'POST',
        headers,
        agent: agents[secure ? 'https:' : 'http:'],
      });
      this.#live = request;
      request.once('response', resolve);
      request.on('error', (error) => {
        this.#blame('unreachable');
        reject(error);
      });
      request.end(body);
    });
  }

  #body(incoming: IncomingMessage): ReadableStream<Uint8Array> {
    const { betweenBytesMs } = this.limits;
    let left = MAX_BYTES;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          incoming.on('data', (chunk: Buffer) => {
            controller.enqueue(chunk);
            left -= chunk.length;
            if (left < 0) return this.#fail('endless');
            if ((controller.desiredSize ?? 0) > 0) return this.#watch('stalled', betweenBytesMs);
            incoming.pause();
            clearTimeout(this.#timer);
          });
          incoming.once('end', () => {
            clearTimeout(this.#timer);
            this.ended = true;
            this.#live = null;
            controller.close();
          });
          incoming.once('error', (error) => {
            this.#blame('broken-off');
            controller.error(error);
          });
        },
        pull: () => {
          if (!incoming.isPaused()) return;
          this.#watch('stalled', betweenBytesMs);
          incoming.resume();
        },
        cancel: () => this.#destroy(),
      },
      { highWaterMark: CHUNKS_AHEAD },
    );
  }

  #watch(fault: Fault, ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(fault), ms);
  }

  #fail(fault: Fault): void {
    this.#blame(fault);
    this.#destroy();
  }

  /** The first fault is the cause; what follows from closing the socket is not. */
  #blame(fault: Fault): void {
    clearTimeout(this.#timer);
    this.fault ??= fault;
  }

  #destroy(): void {
    clearTimeout(this.#timer);
    this.#live?.destroy(new Error('closed'));
    this.#live = null;
  }
}

/** The `fetch` all SDK models are made with: hands each request to the exchange it belongs to. */
export const exchangeFetch: typeof fetch = (input, init) => {
  const exchange = init?.signal ? exchanges.get(init.signal) : undefined;
  if (exchange === undefined || typeof init?.body !== 'string') {
    return Promise.reject(new TypeError('a request outside of an exchange'));
  }
  const url = new URL(input instanceof Request ? input.url : input);
  return exchange.post(url, Object.fromEntries(new Headers(init.headers)), init.body);
};
