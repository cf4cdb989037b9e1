import { TLSSocket } from 'node:tls';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { tokenOf } from '../auth/credentials';
import type { Admission, Entrance, Shown } from '../auth/entrance';
import { MEDIA_STREAM, streamQuery } from '../media/stream-query';

const OPEN_TO_ALL: readonly string[] = ['/health', '/ready'];

const UNAUTHORIZED = { error: 'unauthorized', detail: 'Missing or invalid gateway token.' };
const LOCKED_OUT = {
  error: 'too_many_failures',
  detail: 'Too many wrong credentials; try again in a minute.',
};
const FORBIDDEN = { error: 'forbidden', detail: 'forbidden host/origin' };
const UNAVAILABLE = {
  error: 'unavailable',
  detail: 'The gateway cannot check credentials at the moment.',
};

const REFUSALS: Record<Exclude<Admission, 'admitted'>, { status: number; body: object }> = {
  unauthorized: { status: 401, body: UNAUTHORIZED },
  'locked-out': { status: 429, body: LOCKED_OUT },
};

/** What holds for every HTTP request before its route (wire.md §1): place, CORS, then the token. */
export function installEdgeRules(app: NestFastifyApplication, entrance: Entrance): void {
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', async (request, reply) => {
    const { headers, method } = request;
    const [path = ''] = request.url.split('?');
    if (path !== '/health' && !entrance.isAllowedPlace(headers))
      return reply.code(403).send(FORBIDDEN);
    if (headers.origin !== undefined && entrance.isConfiguredOrigin(headers.origin)) {
      void reply.headers(corsHeaders(headers.origin));
      if (method === 'OPTIONS') return reply.code(204).send();
    }
    if (OPEN_TO_ALL.includes(path)) return;
    const encrypted = request.raw.socket instanceof TLSSocket;
    const peer = entrance.peer(request.raw.socket.remoteAddress, headers, encrypted);
    const shown = path === MEDIA_STREAM ? mediaPass(request.url) : { token: tokenOf(headers) };
    const admission = await entrance.admit(peer, shown).catch(() => null);
    if (admission === null) return reply.code(503).send(UNAVAILABLE);
    if (admission === 'admitted') return;
    const { status, body } = REFUSALS[admission];
    return reply.code(status).send(body);
  });
}

/** The stream of a file takes its ticket alone: a player can show no header. */
function mediaPass(url: string): Shown {
  const { ticket, id } = streamQuery(url);
  return ticket === null || id === null ? {} : { media: { ticket, id } };
}

function corsHeaders(origin: string) {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
    'access-control-allow-headers': 'authorization, content-type, range, x-flowly-token',
    'access-control-expose-headers': 'accept-ranges, content-length, content-range',
    'access-control-max-age': '600',
    vary: 'Origin',
  };
}
