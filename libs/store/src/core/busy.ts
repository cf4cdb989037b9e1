import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** What an attempt gives back when another connection holds the file. */
export const BUSY: unique symbol = Symbol('busy');

/**
 * Repeats a synchronous attempt while it answers {@link BUSY}, at least once and until `until` (Unix
 * ms). The waits are between the attempts, so the event loop goes on.
 */
export async function whenFree<T>(
  until: number,
  attempt: () => T | typeof BUSY,
): Promise<T | typeof BUSY> {
  for (let wait = 2; ; wait = Math.min(wait * 2, 50)) {
    const outcome = attempt();
    if (outcome !== BUSY || Date.now() >= until) return outcome;
    await delay(wait * (0.5 + Math.random()));
  }
}

export function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith('SQLITE_BUSY') ?? false;
}

const sqliteErrorSchema = z.object({ name: z.literal('SqliteError'), code: z.string() });

/** SQLite's name for the error, null for another error. By shape: the class differs where the module is loaded twice. */
export function sqliteCode(error: unknown): string | null {
  return sqliteErrorSchema.safeParse(error).data?.code ?? null;
}
