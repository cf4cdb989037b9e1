import type { WebSocket } from 'ws';
import type { Limits } from '@flowly/contract';
import type { Peer } from '../auth/peer';
import { Lanes } from '../calls/lanes';
import type { Frame } from '../frames/frame';
import { HoldBack } from './hold-back';
import { SendQueue } from './send-queue';
import { Subscriptions } from './subscriptions';
import type { Topics } from './topics';

/** Who a socket belongs to. */
export interface ClientIdentity {
  clientId: string;
  /** The client chose its id, so a newer socket with it replaces this one. */
  isNamed: boolean;
  peer: Peer;
}

/** Close codes (wire.md §3). */
export const closeCode = {
  goingAway: 1001,
  serviceRestart: 1012,
  slowReader: 1013,
  replaced: 4001,
};

/** One client on its socket. */
export class ClientSocket {
  readonly lanes = new Lanes();
  readonly subscriptions: Subscriptions<ClientSocket>;
  readonly hold = new HoldBack((frame) => this.send(frame));
  /** Group → sequence of the newest message in the last snapshot event this socket was sent. */
  readonly baselines = new Map<string, number>();
  private readonly queue: SendQueue;
  private answeredPing = true;

  constructor(
    private readonly ws: WebSocket,
    readonly identity: ClientIdentity,
    topics: Topics<ClientSocket>,
    private readonly limits: Pick<Limits, 'waitingEventBytes' | 'slowReaderMs'>,
  ) {
    this.subscriptions = new Subscriptions(topics, this);
    this.queue = new SendQueue(ws);
    ws.on('pong', () => (this.answeredPing = true));
  }

  get isOpen(): boolean {
    return this.ws.readyState === this.ws.OPEN;
  }

  send(frame: Frame): void {
    if (!this.isOpen) return;
    this.queue.push(frame);
    if (this.queue.waitingEventBytes > this.limits.waitingEventBytes)
      this.close(closeCode.slowReader);
  }

  close(code: number): void {
    if (!this.isOpen) return;
    this.subscriptions.end();
    this.queue.close();
    this.ws.close(code);
  }

  /** Drops a client that did not answer the ping before. */
  ping(): void {
    if (!this.answeredPing) return this.terminate();
    this.answeredPing = false;
    if (this.isOpen) this.ws.ping();
  }

  closeIfStuck(): void {
    if (this.queue.isStuck(this.limits.slowReaderMs)) this.close(closeCode.slowReader);
  }

  terminate(): void {
    this.ws.terminate();
  }

  /** The connection is gone. */
  ended(): void {
    this.subscriptions.end();
    this.queue.close();
  }
}
