import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { Limits } from '@flowly/contract';
import type { CallDesk } from '../calls/call-desk';
import { encode, errorFrame } from '../frames/frame';
import { readFrame } from '../frames/read-frame';
import type { Claims } from './claims';
import { ClientSocket } from './client-socket';
import type { Door } from './door';
import type { SocketRegistry } from './socket-registry';
import type { Topics } from './topics';

/** The life of a socket: from its handshake through its frames to its end. */
export class SocketHost {
  constructor(
    private readonly door: Door,
    private readonly registry: SocketRegistry,
    private readonly claims: Claims,
    private readonly topics: Topics<ClientSocket>,
    private readonly calls: CallDesk,
    private readonly limits: Limits,
  ) {}

  open(ws: WebSocket, request: IncomingMessage): ClientSocket {
    const client = new ClientSocket(ws, this.door.identify(request), this.topics, this.limits);
    this.registry.add(client);
    this.claims.take(client);
    return client;
  }

  message(client: ClientSocket, data: Buffer, isBinary: boolean): void {
    if (!client.isOpen) return;
    const frame = readFrame(data, isBinary, this.limits);
    switch (frame.kind) {
      case 'bad':
        return client.send(encode({ type: 'error', message: frame.message }));
      case 'ping':
        return client.send(encode({ type: 'pong', timestamp: frame.timestamp }));
      case 'refused':
        return client.send(errorFrame(frame.id, frame.error));
      case 'call':
        return this.calls.handle(client, frame);
    }
  }

  ended(client: ClientSocket): void {
    client.ended();
    this.claims.drop(client);
    this.registry.remove(client);
  }
}
