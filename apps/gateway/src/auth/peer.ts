import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { forwardedHops, listedValues, withoutPort } from './forwarded';
import { isLoopback, plainAddress } from './loopback';

/** Who is at the other end, as far as it can be known. */
export interface Peer {
  /** The client's address: the forwarded one behind a configured proxy. */
  address: string;
  /** Loopback all the way, or TLS; anything else can be read by others. */
  secure: boolean;
}

/** The proxies whose forwarded headers count: addresses or `address/bits`. */
export class TrustedProxies {
  private readonly list = new BlockList();

  /** @throws Error that names an entry which is neither */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.add(entry);
  }

  /** @param remote address of the connection, @param encrypted whether it is TLS itself */
  peer(remote: string, headers: IncomingHttpHeaders, encrypted = false): Peer {
    const own = plainAddress(remote);
    if (!this.has(own)) return { address: own, secure: encrypted || isLoopback(own) };
    const hops = forwardedHops(headers.forwarded);
    const listed = listedValues(headers['x-forwarded-for']);
    const address = this.client(own, listed.length > 0 ? listed : hops.map((hop) => hop.address));
    const protos = [listedValues(headers['x-forwarded-proto']).at(-1), hops.at(-1)?.proto];
    return { address, secure: areSecure(protos) ?? isLoopback(address) };
  }

  /** The nearest forwarded address that is not itself a trusted proxy. */
  private client(own: string, forwarded: readonly (string | undefined)[]): string {
    let nearest = own;
    for (const given of forwarded.toReversed()) {
      const address = plainAddress(withoutPort(given ?? ''));
      if (isIP(address) === 0) return nearest;
      nearest = address;
      if (!this.has(address)) return address;
    }
    return nearest;
  }

  private has(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }

  private add(entry: string): void {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    const prefix = bits === undefined ? most : Number(bits);
    if (family === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > most) {
      throw new Error(
        'FLOWLY_TRUSTED_PROXIES holds something that is neither an address nor a network.',
      );
    }
    this.list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** Whether the nearest proxy was reached by TLS; where its headers do not agree it was not. Null: it does not say. */
function areSecure(protos: readonly (string | undefined)[]): boolean | null {
  const said = protos.filter((proto) => proto !== undefined);
  return said.length === 0 ? null : said.every((proto) => proto.toLowerCase() === 'https');
}
