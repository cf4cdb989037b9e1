import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { isGlobalAddress, isPublicUrl, type Limits } from '@flowly/contract';

const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

/** A file of the web could not be had; the message says why, for a log. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
}

/** How names and addresses are reached. */
export interface Network {
  /** All addresses of a name. */
  addressesOf: (name: string) => Promise<string[]>;
  /** Connects to one of these addresses, and to no other, and proves that it is this host. */
  dial: (addresses: readonly string[], host: string) => TLSSocket;
}

/** How one of some addresses is dialled. @param own a port and an authority of their own, for tests */
export function dialer(own: { port?: number; ca?: string } = {}): Network['dial'] {
  return (addresses, host) =>
    tls.connect({
      host,
      port: 443,
      ...own,
      ...(isIP(host) === 0 && { servername: host }),
      lookup: found(addresses),
    });
}

const internet: Network = {
  addressesOf: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  dial: dialer(),
};

/** A connection's look-up that finds these addresses, whatever the name means by now. */
function found(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, done) => {
    const [first] = all;
    if (options.all === true) done(null, all);
    else done(null, first?.address ?? '', first?.family ?? 0);
  };
}

/**
 * Fetches files that a client has named by address (bots.md §3.3). Each hop is held against the whole rule of the
 * contract, and the connection's own look-up gives it only addresses that were checked: a name that means another one a
 * moment later changes nothing.
 */
export class FileFetcher {
  constructor(
    private readonly limits: Pick<Limits, 'attachmentBytes' | 'attachmentFetchMs'>,
    private readonly network: Network = internet,
  ) {}

  /** The pieces of a file as they come. @throws FetchFailure before or between them */
  async *fetch(url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const over = AbortSignal.any([signal, AbortSignal.timeout(this.limits.attachmentFetchMs)]);
    try {
      yield* this.pieces(await this.follow(url, over));
    } catch (cause) {
      if (cause instanceof FetchFailure) throw cause;
      throw new FetchFailure(over.aborted ? 'it took too long' : 'it could not be reached', {
        cause,
      });
    }
  }

  private async follow(url: string, signal: AbortSignal): Promise<IncomingMessage> {
    let address = url;
    for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
      const response = await this.get(address, signal);
      const next = redirection(response, address);
      if (next === null) return response;
      response.destroy();
      address = next;
    }
    throw new FetchFailure('it is redirected too often');
  }

  private async get(url: string, signal: AbortSignal): Promise<IncomingMessage> {
    if (!isPublicUrl(url)) throw new FetchFailure('its address is not allowed');
    const { hostname, pathname, search } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    const addresses = await this.checkedAddresses(host, signal);
    return new Promise((resolve, reject) => {
      const request = https.request({
        host,
        // Without an agent nobody else says that this port is not named.
        defaultPort: 443,
        path: pathname + search,
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'flowly' },
        createConnection: () => this.network.dial(addresses, host),
        signal,
      });
      request.once('response', resolve);
      request.on('error', reject);
      request.end();
    });
  }

  private async checkedAddresses(host: string, signal: AbortSignal): Promise<string[]> {
    const all = isIP(host) ? [host] : await unless(signal, this.network.addressesOf(host));
    const open = all.filter(isGlobalAddress);
    if (open.length === 0) throw new FetchFailure('its name leads into a private network');
    return open;
  }

  private async *pieces(response: IncomingMessage): AsyncGenerator<Uint8Array> {
    const { attachmentBytes } = this.limits;
    try {
      const { statusCode, headers } = response;
      if (statusCode !== 200) throw new FetchFailure(`its server answers ${statusCode}`);
      if ((headers['content-encoding'] ?? 'identity') !== 'identity')
        throw new FetchFailure('its server packs it');
      if (Number(headers['content-length'] ?? 0) > attachmentBytes) throw tooLarge();
      let size = 0;
      for await (const piece of response) {
        if (!(piece instanceof Uint8Array)) throw new FetchFailure('its server sends no bytes');
        size += piece.length;
        if (size > attachmentBytes) throw tooLarge();
        yield piece;
      }
    } finally {
      response.destroy();
    }
  }
}

function redirection({ statusCode = 0, headers }: IncomingMessage, url: string): string | null {
  if (!REDIRECTS.includes(statusCode)) return null;
  const { location } = headers;
  if (location === undefined || !URL.canParse(location, url))
    throw new FetchFailure('it is redirected to nowhere');
  return new URL(location, url).href;
}

function tooLarge(): FetchFailure {
  return new FetchFailure('it is too large');
}

/** A look-up cannot be stopped; nobody waits for it any longer. */
async function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
