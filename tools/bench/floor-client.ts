import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { FloorAnswer, FloorAsk } from './floor-messages';
import { now } from './now';

/** The measuring client's side of the floor. */
export class FloorClient {
  private readonly listeners = new Map<number, (answer: FloorAnswer, at: number) => void>();
  private count = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const at = now();
      const answer: FloorAnswer = JSON.parse(data.toString());
      this.listeners.get(answer.tag)?.(answer, at);
    });
  }

  static async connect(port: number): Promise<FloorClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    await once(socket, 'open');
    return new FloorClient(socket);
  }

  /** Has a model answer; resolves when it has, with the time of the asking. */
  relay(
    model: string,
    content: string,
    onToken: (text: string, at: number) => void,
  ): Promise<number> {
    return this.ask({ model, content }, onToken);
  }

  /** Has this many bytes sent back. @returns how long that took */
  async echo(bytes: number): Promise<number> {
    let answeredAt = 0;
    const sentAt = await this.ask({ echo: bytes }, (_, at) => (answeredAt = at));
    return answeredAt - sentAt;
  }

  close(): void {
    this.socket.close();
  }

  private ask(
    what: { model: string; content: string } | { echo: number },
    onText: (text: string, at: number) => void,
  ): Promise<number> {
    const tag = ++this.count;
    return new Promise((resolve) => {
      this.listeners.set(tag, ({ text, done }, at) => {
        if (text !== '') onText(text, at);
        if (!done) return;
        this.listeners.delete(tag);
        resolve(sentAt);
      });
      const sentAt = now();
      this.socket.send(JSON.stringify({ tag, ...what } satisfies FloorAsk));
    });
  }
}
