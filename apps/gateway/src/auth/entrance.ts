import type { IncomingHttpHeaders } from 'node:http';
import { isSameToken } from './credentials';
import type { LockOut } from './lock-out';
import { isAllowedPlace, isConfiguredOrigin, type OriginRule } from './origin-rule';
import type { Peer, TrustedProxies } from './peer';
import type { Tickets } from './tickets';

/** What a request shows: a ticket is looked at first, then the token. */
export interface Shown {
  ticket?: string | undefined;
  token?: string | undefined;
  /** A ticket that is good for one file alone. */
  media?: { ticket: string; id: string } | undefined;
}

export type Admission = 'admitted' | 'unauthorized' | 'locked-out';

/** The door of the gateway: the same rules for every route and for sockets (wire.md §1, §3). */
export class Entrance {
  constructor(
    private readonly rule: OriginRule,
    private readonly token: string | null,
    private readonly proxies: TrustedProxies,
    private readonly tickets: Tickets,
    private readonly lockOut: LockOut,
  ) {}

  get authOn(): boolean {
    return this.rule.authOn;
  }

  isAllowedPlace(headers: IncomingHttpHeaders): boolean {
    const fetchSite = [headers['sec-fetch-site'] ?? []].flat()[0]?.toLowerCase();
    return isAllowedPlace({ host: headers.host, origin: headers.origin, fetchSite }, this.rule);
  }

  isConfiguredOrigin(origin: string): boolean {
    return isConfiguredOrigin(origin, this.rule.allowedOrigins);
  }

  peer(remote: string | undefined, headers: IncomingHttpHeaders, encrypted: boolean): Peer {
    return this.proxies.peer(remote ?? '', headers, encrypted);
  }

  /** @throws when Redis, which knows tickets and lock-outs, does not answer */
  async admit(peer: Peer, shown: Shown): Promise<Admission> {
    if (!this.rule.authOn) return 'admitted';
    if (await this.lockOut.isLocked(peer.address)) return 'locked-out';
    if (shown.ticket !== undefined && (await this.tickets.take(shown.ticket))) return 'admitted';
    if (shown.token !== undefined && this.isToken(shown.token)) return 'admitted';
    const { media } = shown;
    if (media && (await this.tickets.isForMedia(media.ticket, media.id))) return 'admitted';
    const wrong = [shown.ticket, shown.token, media].some((credential) => credential !== undefined);
    if (wrong) await this.lockOut.countFailure(peer.address);
    return 'unauthorized';
  }

  private isToken(given: string): boolean {
    return this.token !== null && isSameToken(given, this.token);
  }
}
