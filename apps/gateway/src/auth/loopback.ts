import { isIPv4 } from 'node:net';

/** An address without the IPv6 cloak that a dual-stack socket puts on IPv4. */
export function plainAddress(address: string): string {
  const bare = address.startsWith('[') && address.endsWith(']') ? address.slice(1, -1) : address;
  return bare.toLowerCase().startsWith('::ffff:') && isIPv4(bare.slice(7)) ? bare.slice(7) : bare;
}

/** Whether an address to bind, or that a peer has, is this machine's own. */
export function isLoopback(address: string): boolean {
  const bare = plainAddress(address);
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}
