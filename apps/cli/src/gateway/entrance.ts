import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { noGateway, unauthorized } from '../failure';
import type { Settings } from '../settings';

const PATIENCE_MS = 10_000;
const ticketSchema = z.object({ ticket: z.string() });

/** Address of a new socket. The token itself stays in a header; the address holds a ticket that counts once. */
export async function socketAddress(settings: Settings): Promise<URL> {
  const address = new URL('ws', settings.gateway);
  address.protocol = settings.gateway.protocol === 'https:' ? 'wss:' : 'ws:';
  const token = await readToken(settings);
  const ticket = token === null ? null : await askForTicket(settings.gateway, token);
  if (ticket !== null) address.searchParams.set('ticket', ticket);
  return address;
}

async function readToken({ token, tokenFile }: Settings): Promise<string | null> {
  if (token !== null || tokenFile === null) return token;
  try {
    return (await readFile(tokenFile, 'utf8')).trim();
  } catch {
    return null; // the gateway made none, or it is somebody else's
  }
}

/** Null where the gateway asks for nothing. */
async function askForTicket(gateway: URL, token: string): Promise<string | null> {
  const response = await post(new URL('api/auth/ws-ticket', gateway), token);
  if (response.status === 404) return null;
  if (response.status === 401) throw unauthorized('The gateway does not accept the token.');
  if (response.status === 429) throw unauthorized('Too many wrong tokens; wait a minute.');
  const ticket = ticketSchema.safeParse(await response.json().catch(() => null)).data?.ticket;
  if (!response.ok || ticket === undefined) {
    throw noGateway(`The gateway at ${gateway.origin} gives no ticket (HTTP ${response.status}).`);
  }
  return ticket;
}

async function post(address: URL, token: string): Promise<Response> {
  try {
    return await fetch(address, {
      method: 'POST',
      headers: { 'x-flowly-token': token },
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    throw noGateway(`No gateway answers at ${address.origin}.`);
  }
}
