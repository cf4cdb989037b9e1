import { WebSocket } from 'ws';
import { isObject } from '@flowly/contract';

export type Json = Record<string, unknown>;

/** A client on a real socket that keeps everything it is sent, in order. */
export class TestClient {
  readonly frames: Json[] = [];
  closed: { code: number; reason: string } | null = null;
  private nextId = 0;

  private constructor(readonly ws: WebSocket) {
    ws.on('message', (data) => {
      const frame: unknown = JSON.parse(String(data));
      if (isObject(frame)) this.frames.push(frame);
    });
    ws.on('close', (code, reason) => (this.closed = { code, reason: String(reason) }));
    ws.on('error', () => undefined);
  }

  /** @throws Error whose message holds status and body when the gateway refuses the socket */
  static open(url: string, headers: Record<string, string> = {}): Promise<TestClient> {
    const ws = new WebSocket(url, { headers });
    const client = new TestClient(ws);
    return new Promise((resolve, reject) => {
      ws.once('open', () => resolve(client));
      ws.once('unexpected-response', (_, response) => {
        let body = '';
        response.on('data', (part) => (body += String(part)));
        response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)));
      });
      ws.once('error', reject);
    });
  }

  send(frame: unknown): void {
    this.ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Sends a call and gives its id. */
  start(method: string, params?: unknown): string {
    const id = `c${(this.nextId += 1)}`;
    this.send({ type: 'rpc', id, method, params });
    return id;
  }

  /** The whole answer to a call. */
  async answer(id: string): Promise<Json> {
    await until(() => this.answers(id).length > 0);
    return this.answers(id)[0] ?? {};
  }

  answers(id: unknown): Json[] {
    return this.frames.filter((frame) => frame['type'] === 'rpc' && frame['id'] === id);
  }

  async call(method: string, params?: unknown): Promise<Json> {
    return this.answer(this.start(method, params));
  }

  /** The code with which a call is refused. */
  async code(method: string, params?: unknown): Promise<unknown> {
    const { error } = await this.call(method, params);
    return isObject(error) ? error['code'] : 'no error';
  }

  events(name: string): Json[] {
    return this.frames.filter((frame) => frame['event'] === name);
  }

  /** Data of the events of groups. */
  groupEvents(): Json[] {
    return this.events('profile.room').map(({ data }) => (isObject(data) ? data : {}));
  }

  async closing(): Promise<number> {
    await until(() => this.closed !== null);
    return this.closed?.code ?? 0;
  }

  async end(): Promise<void> {
    this.ws.close();
    await this.closing();
  }
}

/** Waits until the condition holds; fails after ten seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error('The condition did not come true within ten seconds.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
