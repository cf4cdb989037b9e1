import { WebSocket, type RawData } from 'ws';
import { z } from 'zod';
import {
  botMethods,
  eventSchemas,
  isObject,
  methods,
  type BotMethodName,
  type EventData,
  type MethodName,
  type MethodResult,
} from '@flowly/contract';
import { Failure, noGateway, refused, unauthorized } from '../failure';
import type { Settings } from '../settings';
import { socketAddress } from './entrance';

const DIAL_MS = 10_000;
/** Above the ceiling of every method: the gateway itself answers in time. */
const ANSWER_MS = 150_000;

const answerSchema = z.object({
  type: z.literal('rpc'),
  id: z.string(),
  result: z.unknown().optional(),
  error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }).optional(),
});

/** What the command line listens to. */
type Heard = 'profile.event' | 'profile.room';
type Listener<N extends Heard> = (data: EventData<N>) => void;
type Pending = { resolve: (result: unknown) => void; reject: (error: Failure) => void };

/** A socket on the running gateway, typed by the schemas of the contract. */
export class GatewayClient {
  /** Resolves with why nothing more comes. */
  readonly gone: Promise<Failure>;
  private readonly pending = new Map<string, Pending>();
  private readonly listeners: { [N in Heard]: Set<Listener<N>> } = {
    'profile.event': new Set(),
    'profile.room': new Set(),
  };
  /** Set when it is gone: a call on a closed socket would wait for an answer that cannot come. */
  private lost: Failure | null = null;
  private count = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data) => this.take(data));
    this.gone = new Promise((resolve) => {
      socket.once('close', (code) => {
        const lost = noGateway(`The connection to the gateway was lost (${code}).`);
        this.lost = lost;
        for (const { reject } of this.pending.values()) reject(lost);
        resolve(lost);
      });
    });
  }

  /** @throws Failure `NO_GATEWAY`, `UNAUTHORIZED` */
  static async dial(settings: Settings): Promise<GatewayClient> {
    const address = await socketAddress(settings);
    const socket = new WebSocket(address, { handshakeTimeout: DIAL_MS, maxPayload: 256 * 2 ** 20 });
    const client = new GatewayClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('unexpected-response', (request, { statusCode = 0 }) => {
        request.destroy();
        reject(whyNotIn(settings.gateway, statusCode));
      });
      // What the socket says of it may name its address, which holds a ticket.
      socket.on('error', () =>
        reject(noGateway(`No gateway answers at ${settings.gateway.origin}.`)),
      );
    });
    return client;
  }

  /**
   * Calls a method of the table by its inner name.
   * @throws Failure with the code of the refusal, `NO_GATEWAY`
   */
  async call<N extends MethodName>(name: N, params: object = {}): Promise<MethodResult<N>> {
    const { wire, result } = methods[name];
    return fitting<MethodResult<N>>(wire, result, await this.request(wire, params));
  }

  /** Calls a method of one bot. @throws as {@link call} */
  async rpc<N extends BotMethodName>(
    bot: string,
    name: N,
    params: object = {},
  ): Promise<MethodResult<N>> {
    const { wire, result } = botMethods[name];
    const call = { name: bot, method: wire, params };
    return fitting<MethodResult<N>>(wire, result, await this.request('profiles.rpc', call));
  }

  /** Hears the events of a kind from now on. Returns how to stop. */
  on<N extends Heard>(event: N, listener: Listener<N>): () => void {
    this.listeners[event].add(listener);
    return () => this.listeners[event].delete(listener);
  }

  close(): void {
    this.socket.close();
  }

  private async request(method: string, params: object): Promise<unknown> {
    if (this.lost) throw this.lost;
    const id = `cli-${++this.count}`;
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      timer = setTimeout(() => reject(noGateway('The gateway does not answer.')), ANSWER_MS);
    });
    this.socket.send(JSON.stringify({ type: 'rpc', id, method, params }));
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      this.pending.delete(id);
    }
  }

  private take(data: RawData): void {
    const frame: unknown = JSON.parse(data.toString());
    if (!isObject(frame)) return;
    if (frame['type'] === 'event') this.hear(frame['event'], frame['data']);
    const answer = answerSchema.safeParse(frame).data;
    if (answer === undefined) return;
    const pending = this.pending.get(answer.id);
    if (answer.error === undefined) pending?.resolve(answer.result);
    else pending?.reject(refused(answer.error));
  }

  /** What this version does not know is passed over. */
  private hear(event: unknown, data: unknown): void {
    if (event === 'profile.event') this.tell(event, eventSchemas[event].safeParse(data).data);
    if (event === 'profile.room') this.tell(event, eventSchemas[event].safeParse(data).data);
  }

  private tell<N extends Heard>(event: N, data: EventData<N> | undefined): void {
    if (data === undefined) return;
    for (const listener of this.listeners[event]) listener(data);
  }
}

function whyNotIn(gateway: URL, status: number): Failure {
  if (status === 401) {
    return unauthorized(
      'The gateway asks for its token: set FLOWLY_GATEWAY_TOKEN, or FLOWLY_HOME to its data folder.',
    );
  }
  if (status === 403) return unauthorized('The gateway refuses this address of it.');
  if (status === 429) return unauthorized('Too many wrong tokens; wait a minute.');
  return noGateway(`No gateway answers at ${gateway.origin} (HTTP ${status}).`);
}

function fitting<T>(wire: string, schema: z.ZodType, result: unknown): T;
function fitting(wire: string, schema: z.ZodType, result: unknown): unknown {
  const parsed = schema.safeParse(result);
  if (parsed.success) return parsed.data;
  throw new Failure(
    'INTERNAL',
    `The gateway answers ${wire} in a way that this version does not know.`,
  );
}
