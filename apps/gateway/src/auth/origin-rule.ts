import { isLoopback } from './loopback';

/** The headers that say where a request comes from. */
export interface Place {
  host: string | undefined;
  origin: string | undefined;
  fetchSite: string | undefined;
}

export interface OriginRule {
  authOn: boolean;
  allowedOrigins: readonly string[];
}

/** The Host and Origin rule of wire.md §3, looked at before any credential. */
export function isAllowedPlace(place: Place, rule: OriginRule): boolean {
  if (!rule.authOn && !isLoopbackHost(place.host)) return false;
  if (place.origin === undefined) return place.fetchSite !== 'cross-site';
  if (isConfiguredOrigin(place.origin, rule.allowedOrigins)) return true;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(place.origin)?.[1]?.toLowerCase();
  if (scheme === undefined) return false; // also `null`
  if (scheme !== 'http' && scheme !== 'https') return rule.authOn;
  return place.fetchSite !== 'cross-site' && isOwnOrigin(place.origin, scheme, place.host);
}

/** Whether exactly this origin was configured; `null` can never be. */
export function isConfiguredOrigin(origin: string, allowed: readonly string[]): boolean {
  if (origin === 'null') return false;
  return allowed.some((one) => one !== 'null' && comparable(one) === comparable(origin));
}

/** http and https origins in the form in which a missing port is the default one. */
function comparable(origin: string): string {
  return /^https?:\/\//i.test(origin) && URL.canParse(origin) ? new URL(origin).origin : origin;
}

function isOwnOrigin(origin: string, scheme: string, host: string | undefined): boolean {
  const own = hostOf(host, scheme);
  return own !== null && hostOf(origin.slice(scheme.length + 3), scheme) === own;
}

function isLoopbackHost(host: string | undefined): boolean {
  const own = hostOf(host, 'http');
  return own !== null && isLoopback(new URL(`http://${own}`).hostname);
}

/** `host` or `host:port` in one form, the port left out where it is the scheme's default; null if it is none. */
function hostOf(text: string | undefined, scheme: string): string | null {
  if (text === undefined || !/^[^\s/@?#\\]+$/.test(text)) return null;
  const url = `${scheme}://${text}`;
  return URL.canParse(url) ? new URL(url).host : null;
}
