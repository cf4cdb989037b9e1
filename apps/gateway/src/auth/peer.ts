import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
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
    const address = this.client(own, headers);
    const proto = lastOf(headers['x-forwarded-proto']);
    return { address, secure: proto === undefined ? isLoopback(address) : proto === 'https' };
  }

  /** The nearest forwarded address that is not itself a trusted proxy. */
  private client(own: string, headers: IncomingHttpHeaders): string {
    const forwarded = [headers['x-forwarded-for'] ?? []]
      .flat()
      .flatMap((line) => line.split(','))
      .map((address) => plainAddress(address.trim()))
      .reverse();
    let nearest = own;
    for (const address of forwarded) {
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

function lastOf(header: string | string[] | undefined): string | undefined {
  return [header ?? []].flat().at(-1)?.split(',').at(-1)?.trim().toLowerCase();
}
