import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { wrongUsage } from './failure';

const optional = z
  .string()
  .optional()
  .transform((value) => value || undefined);

const environmentSchema = z.object({
  FLOWLY_HOME: optional,
  FLOWLY_GATEWAY_URL: optional,
  FLOWLY_GATEWAY_HOST: optional,
  FLOWLY_GATEWAY_PORT: optional,
  FLOWLY_GATEWAY_TOKEN: optional,
});

/** Where the installation is, as the environment and `--url` say. */
export interface Settings {
  /** The data folder. */
  home: string;
  /** http or https, ending in `/`. */
  gateway: URL;
  /** A secret; null when none is given and the gateway's file counts. */
  token: string | null;
  /** The token the gateway made for itself; only for the gateway of this data folder. */
  tokenFile: string | null;
}

/** @throws Failure `WRONG_USAGE` for an address that is none */
export function readSettings(environment: NodeJS.ProcessEnv, url: string | undefined): Settings {
  const env = environmentSchema.parse(environment);
  const home = resolve(env.FLOWLY_HOME ?? join(homedir(), '.flowly'));
  const elsewhere = url ?? env.FLOWLY_GATEWAY_URL;
  const gateway = readAddress(
    elsewhere ?? localAddress(env.FLOWLY_GATEWAY_HOST, env.FLOWLY_GATEWAY_PORT),
  );
  // The token of this folder is nobody else's: it goes to no other machine.
  const isOwn = elsewhere === undefined || isLoopback(gateway);
  return {
    home,
    gateway,
    token: env.FLOWLY_GATEWAY_TOKEN ?? null,
    tokenFile: isOwn ? join(home, 'gateway-token') : null,
  };
}

/** Whether what is sent there cannot be read on the way. */
export function isPrivateWay(gateway: URL): boolean {
  return gateway.protocol === 'https:' || isLoopback(gateway);
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function localAddress(host = '127.0.0.1', port = '18790'): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function readAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'ws:') url.protocol = 'http:';
  if (url?.protocol === 'wss:') url.protocol = 'https:';
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw wrongUsage('The address of the gateway must be one such as http://127.0.0.1:18790.');
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return new URL('.', url);
}
