import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { clientIdSchema } from '@flowly/contract';
import { tokenOf } from '../auth/credentials';
import type { Entrance } from '../auth/entrance';
import type { ClientIdentity } from './client-socket';

const REFUSALS = {
  unauthorized: { status: 401, text: 'unauthorized' },
  'locked-out': { status: 429, text: 'too many wrong credentials' },
};

/** The door for sockets: who may come in, and who it is (wire.md §3). */
export class Door {
  private closed = false;

  constructor(private readonly entrance: Entrance) {}

  /** From now on nobody comes in. */
  close(): void {
    this.closed = true;
  }

  async refusal(request: IncomingMessage): Promise<{ status: number; text: string } | null> {
    if (this.closed) return { status: 503, text: 'stopping' };
    if (!this.entrance.isAllowedPlace(request.headers))
      return { status: 403, text: 'forbidden host/origin' };
    try {
      const query = queryOf(request);
      const shown = {
        ticket: query.get('ticket') ?? undefined,
        token: query.get('token') ?? tokenOf(request.headers),
      };
      const admission = await this.entrance.admit(this.peer(request), shown);
      return admission === 'admitted' ? null : REFUSALS[admission];
    } catch {
      return { status: 503, text: 'unavailable' }; // tickets and lock-outs are in Redis, which reports itself
    }
  }

  identify(request: IncomingMessage): ClientIdentity {
    const given = clientIdSchema.safeParse(queryOf(request).get('clientId'));
    return {
      clientId: given.success ? given.data : randomUUID(),
      isNamed: given.success,
      peer: this.peer(request),
    };
  }

  private peer({ socket, headers }: IncomingMessage) {
    return this.entrance.peer(socket.remoteAddress, headers, socket instanceof TLSSocket);
  }
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start));
}
