import { once } from 'node:events';
import type { EventFrame, MethodName, MethodResult, methods } from '@flowly/contract';
import { WebSocket } from 'ws';
import { now } from './now';

type Results = { [N in MethodName as (typeof methods)[N]['wire']]: MethodResult<N> };
type Listener = (frame: EventFrame, at: number) => void;

interface AnswerFrame {
  type: 'rpc';
  id: string;
  result: never;
  error?: { code: string; message: string };
}

interface Waiting {
  resolve: (answer: { result: never; at: number }) => void;
  reject: (error: Error) => void;
}

/** A thin client: unlike the one of the tests it checks nothing, so that it measures and does not weigh. */
export class BenchClient {
  private readonly waiting = new Map<string, Waiting>();
  private readonly listeners = new Set<Listener>();
  private count = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data) => this.take(JSON.parse(data.toString()), now()));
    socket.once('close', (code) => {
      for (const { reject } of this.waiting.values()) reject(new Error(`closed (${code})`));
    });
  }

  static async connect(url: string): Promise<BenchClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    await once(socket, 'open');
    return new BenchClient(socket);
  }

  async call<M extends keyof Results>(method: M, params: object = {}): Promise<Results[M]> {
    return (await this.timed(method, params)).result;
  }

  /** @returns the result, when the call was handed to the socket and when its answer came */
  async timed<M extends keyof Results>(
    method: M,
    params: object,
  ): Promise<{ result: Results[M]; sentAt: number; at: number }> {
    const id = String(++this.count);
    const answer = new Promise<{ result: Results[M]; at: number }>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
    });
    const sentAt = now();
    this.socket.send(JSON.stringify({ type: 'rpc', id, method, params }));
    return { ...(await answer), sentAt };
  }

  /** @returns what ends the listening */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.socket.close();
  }

  private take(frame: EventFrame | AnswerFrame, at: number): void {
    if (frame.type === 'event') {
      for (const listener of this.listeners) listener(frame, at);
      return;
    }
    const waiting = this.waiting.get(frame.id);
    this.waiting.delete(frame.id);
    if (frame.error) waiting?.reject(new Error(`${frame.error.code}: ${frame.error.message}`));
    else waiting?.resolve({ result: frame.result, at });
  }
}
