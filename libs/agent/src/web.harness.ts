import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https, { type Server } from 'node:https';
import { selfSigned } from '@flowly/testing';
import { dialer, type Network } from './fetch-file';

const NAMES = ['files.example.com', 'cdn.example.com', 'other.example.com'];

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** An internet of one HTTPS server, which is dialled whatever address is. */
export class TestWeb {
  /** What names mean, look-up after look-up; the last stays. Any other name is at 93.184.215.14. */
  readonly names = new Map<string, string[][]>();
  /** Every dial: the host and the addresses that it may be reached at. */
  readonly dialled: { host: string; addresses: readonly string[] }[] = [];
  /** What is asked for, as host and path. */
  readonly asked: string[] = [];
  lookups = 0;
  /** Where a dial leads, whatever was dialled. */
  reached = ['127.0.0.1'];
  private readonly paths = new Map<string, Serve>();

  private constructor(
    private readonly server: Server,
    private readonly ca: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const asked = `${request.headers.host ?? ''}${request.url ?? ''}`;
      this.asked.push(asked);
      const serve = this.paths.get(asked);
      if (serve) serve(request, response);
      else response.writeHead(404).end();
    });
  }

  static async start(): Promise<TestWeb> {
    const { key, cert } = selfSigned(NAMES);
    const server = https.createServer({ key, cert });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestWeb(server, cert);
  }

  /** What is at an address, as `host/path`. */
  at(place: string, serve: Serve | Buffer): void {
    const answer: Serve = Buffer.isBuffer(serve) ? (_, response) => response.end(serve) : serve;
    this.paths.set(place, answer);
  }

  /** Sends who asks at one place to another. */
  redirect(place: string, location: string, status = 302): void {
    this.at(place, (_, response) => response.writeHead(status, { location }).end());
  }

  get network(): Network {
    return {
      addressesOf: async (name) => {
        this.lookups++;
        const meanings = this.names.get(name) ?? [['93.184.215.14']];
        return (meanings.length > 1 ? meanings.shift() : meanings[0]) ?? [];
      },
      dial: (addresses, host) => {
        this.dialled.push({ host, addresses });
        const address = this.server.address();
        const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
        return dialer({ port, ca: this.ca })(this.reached, host);
      },
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
