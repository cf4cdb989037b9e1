import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A request with exactly these headers (`fetch` would set Host and drop some). */
export function ask(
  url: string,
  options: { method?: string; headers?: OutgoingHttpHeaders } = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, agent: false }, (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
    outgoing.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' });
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}

/** Asks for the upgrade to a WebSocket; 101 when it is granted. */
export function askUpgrade(url: string, headers: OutgoingHttpHeaders = {}): Promise<HttpAnswer> {
  return ask(url, {
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': Buffer.alloc(16, 'k').toString('base64'),
      ...headers,
    },
  });
}
