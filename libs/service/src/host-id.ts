import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ServiceConfig } from './config';

const hostFileSchema = z.object({ version: z.literal(1), hostId: z.guid() });

/**
 * The installation's id, for a service that does not make it: told by `FLOWLY_HOST_ID`, else read from the data
 * folder, waiting until a worker has prepared it.
 */
export async function readHostId(config: Pick<ServiceConfig, 'home' | 'hostId'>): Promise<string> {
  if (config.hostId !== undefined) return config.hostId;
  for (;;) {
    const text = await readIfThere(join(config.home, 'profile-host.json'));
    if (text !== null && text !== '') return hostFileSchema.parse(JSON.parse(text)).hostId;
    await delay(50);
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
