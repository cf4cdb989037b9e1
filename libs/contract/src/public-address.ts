/**
 * What an address must be before this host fetches from it for a client (bots.md §3.3). The one place of this rule: for
 * the address a client sends, for every redirect, and for what a name resolves to.
 */

const LONGEST = 4_096;
const LOCAL_NAME = /(?:^|\.)(?:internal|invalid|local|localhost|test|home\.arpa)$/;

/** Whether the text is an https address of the open internet: port 443, no user info, no fragment, no local name. */
export function isPublicUrl(text: string): boolean {
  if (text.length > LONGEST || text.includes('#') || !URL.canParse(text)) return false;
  const { protocol, port, username, password, hostname } = new URL(text);
  // The parser has turned decimal, octal and hexadecimal forms of an IPv4 address into the usual one.
  const host = hostname.replace(/\.+$/, '').toLowerCase();
  return protocol === 'https:' && port + username + password === '' && isPublicHost(host);
}

function isPublicHost(host: string): boolean {
  if (host.startsWith('[')) return isGlobalAddress(host.slice(1, -1));
  if (/^\d+(?:\.\d+){3}$/.test(host)) return isGlobalAddress(host);
  return host.includes('.') && !LOCAL_NAME.test(host);
}

/**
 * Whether an IP address is one of the open internet. An IPv6 address that only wraps an IPv4 one (mapped, NAT64, 6to4,
 * Teredo) never is: it could lead anywhere.
 */
export function isGlobalAddress(address: string): boolean {
  return address.includes(':') ? isGlobalV6(address) : isGlobalV4(address);
}

/** Special-purpose IPv4 blocks (IANA) as [first address, prefix length]. */
const SPECIAL_V4: readonly (readonly [number, number])[] = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc0586300, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 3],
];

function isGlobalV4(text: string): boolean {
  const octets = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) ? text.split('.').map(Number) : [];
  if (octets.length !== 4 || octets.some((octet) => octet > 255)) return false;
  const address = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return !SPECIAL_V4.some(
    ([block, bits]) => Math.floor(address / 2 ** (32 - bits)) === block / 2 ** (32 - bits),
  );
}

/** Global unicast is 2000::/3 without documentation, 6to4, Teredo and benchmarking blocks. */
function isGlobalV6(address: string): boolean {
  const first = Number.parseInt(address.split(':')[0] || '0', 16);
  const second = Number.parseInt(address.split(':')[1] || '0', 16);
  if (!(first >= 0x2000 && first <= 0x3fff)) return false;
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return false;
  return first !== 0x2002 && first !== 0x3fff;
}
