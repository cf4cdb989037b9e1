import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from './loopback';

/** Whether clients must show the token (wire.md §1). */
export function isAuthOn(gateway: {
  host: string;
  token: string | null;
  requireLoopbackAuth: boolean;
}): boolean {
  return gateway.token !== null && (!isLoopback(gateway.host) || gateway.requireLoopbackAuth);
}

/** The token a request shows: `X-Flowly-Token` wins over `Authorization: Bearer`. */
export function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const own = [headers['x-flowly-token'] ?? []].flat()[0];
  return own ?? /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Compared as bytes, in a time that says nothing about where they differ. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
