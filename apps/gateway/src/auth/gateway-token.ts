import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@flowly/contract';
import { isLoopback } from './loopback';

export interface TokenSettings {
  home: string;
  host: string;
  configured: string | undefined;
  requireLoopbackAuth: boolean;
}

/**
 * The gateway's token: the configured one, else one that is made at first start where clients must show
 * one, stored in the data folder for its owner alone (wire.md §1).
 * @returns `file` where the token stands when it was not configured
 */
export async function gatewayToken(
  settings: TokenSettings,
): Promise<{ token: string | null; file?: string; made?: boolean }> {
  if (settings.configured !== undefined) return { token: settings.configured };
  if (isLoopback(settings.host) && !settings.requireLoopbackAuth) return { token: null };
  const file = join(settings.home, 'gateway-token');
  const made = await createOnce(settings.home, file);
  return { token: (await readFile(file, 'utf8')).trim(), file, made };
}

/** A link is made whole or not at all, so a second gateway never reads half a token. */
async function createOnce(home: string, file: string): Promise<boolean> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}`;
  await writeFile(temporary, `${randomBytes(32).toString('base64url')}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  try {
    await link(temporary, file);
    return true;
  } catch (error) {
    if (isObject(error) && error['code'] === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary);
  }
}
