import type { IncomingMessage } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import type { WebSocket } from 'ws';

/** Says whether a request may become a socket, else with which status and text it is refused. */
export type Verify = (request: IncomingMessage) => Promise<{ status: number; text: string } | null>;

interface Handshake {
  req: IncomingMessage;
}
type Decide = (accepted: boolean, status?: number, text?: string) => void;

/** Nest's adapter with a door and a largest frame. */
export class EdgeWsAdapter extends WsAdapter {
  constructor(
    app: INestApplicationContext,
    private readonly verify: Verify,
    private readonly maxPayload: number,
  ) {
    super(app);
  }

  override create(port: number, options: { path?: string } = {}) {
    return super.create(port, {
      ...options,
      maxPayload: this.maxPayload,
      verifyClient: ({ req }: Handshake, decide: Decide) => {
        void this.verify(req).then((refusal) => {
          if (refusal === null) decide(true);
          else decide(false, refusal.status, refusal.text);
        });
      },
    });
  }

  /** `ws` closes a socket that breaks the protocol by itself (1002, 1009); there is nothing to log. */
  override bindErrorHandler<
    S extends { on(event: 'connection', listener: (ws: WebSocket) => void): void },
  >(server: S): S {
    server.on('connection', (ws) => ws.on('error', () => undefined));
    return server;
  }
}
