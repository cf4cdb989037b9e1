import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../core/database';
import { readSetting, saveSetting } from './settings';

/**
 * Which life of the bot's database this is, as `groups/generation.ts` has it for groups: one that was put back counts
 * its outbox from an earlier point, and must not be taken for the one whose rows are known up to a later one.
 */
const GENERATION = 'generation';

/** Begins a new life; only inside `database.write`. */
export function beginGeneration(database: Database): void {
  saveSetting(database, GENERATION, randomUUID());
}

/** Null in a database that was never put back. */
export function readGeneration(database: Database): string | null {
  return z
    .string()
    .nullable()
    .parse(readSetting(database, GENERATION) ?? null);
}
