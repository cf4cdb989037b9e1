/** What one proxy said of the request before it: its address and the protocol it came by, as far as given. */
export interface Hop {
  address?: string;
  proto?: string;
}

const QUOTED = String.raw`"(?:\\.|[^"\\])*"`;
const ELEMENTS = new RegExp(String.raw`(?:[^,"]|${QUOTED})+`, 'g');
const PAIRS = new RegExp(String.raw`([a-z]+)=(${QUOTED}|[^;,\s"]+)`, 'gi');

/** Longer than any chain of proxies; what is read of one grows with the square of its length, and anybody may send one. */
const MOST_LENGTH = 2_048;

/** The hops of a `Forwarded` header (RFC 7239), the nearest proxy's last. */
export function forwardedHops(header: string | string[] | undefined): Hop[] {
  return linesOf(header).flatMap((line) =>
    (line.slice(-MOST_LENGTH).match(ELEMENTS) ?? []).map(hopOf),
  );
}

/** The values of a header that is a plain list, such as `X-Forwarded-For`, the nearest proxy's last. */
export function listedValues(header: string | string[] | undefined): string[] {
  return linesOf(header).flatMap((line) => line.split(',').map((value) => value.trim()));
}

/** An address without the port that some proxies add. */
export function withoutPort(address: string): string {
  return (
    /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? address.replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
  );
}

function hopOf(element: string): Hop {
  const said = new Map(
    [...element.matchAll(PAIRS)].map(([, name = '', value = '']) => [
      name.toLowerCase(),
      value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value,
    ]),
  );
  const [address, proto] = [said.get('for'), said.get('proto')];
  return { ...(address !== undefined && { address }), ...(proto !== undefined && { proto }) };
}

function linesOf(header: string | string[] | undefined): string[] {
  return [header ?? []].flat();
}
