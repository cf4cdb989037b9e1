import type { IncomingMessage } from 'node:http';
import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import type { RawData, WebSocket } from 'ws';
import { SocketHost } from './socket-host';

/** `GET /ws`: every accepted connection becomes a client's socket. */
@WebSocketGateway({ path: '/ws' })
export class SocketGateway implements OnGatewayConnection<WebSocket> {
  constructor(private readonly host: SocketHost) {}

  handleConnection(ws: WebSocket, request: IncomingMessage): void {
    const client = this.host.open(ws, request);
    ws.on('message', (data: RawData, isBinary: boolean) =>
      this.host.message(client, asBuffer(data), isBinary),
    );
    ws.on('close', () => this.host.ended(client));
  }
}

function asBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
