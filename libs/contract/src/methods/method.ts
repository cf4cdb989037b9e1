import type { z } from 'zod';

/** Who executes a method: the edge itself, or the workers of a service. */
export type MethodOwner = 'gateway' | 'bot-runner' | 'group-orchestrator';

/** One row of the table of methods: everything the edge must know to take a call and hand it on. */
export interface Method {
  /** The method's name on the wire. */
  readonly wire: string;
  readonly owner: MethodOwner;
  /** Longest time a call may take, in milliseconds (bots.md §2.1). */
  readonly ceilingMs: number;
  /** Whether calls of one target must take effect in the order sent (wire.md §3). */
  readonly changes: boolean;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
}

export const DEFAULT_CEILING_MS = 30_000;
export const LONG_CEILING_MS = 60_000;
export const PREPARE_CEILING_MS = 120_000;

/** Keeps the literal types of a table while checking each row. */
export function methodTable<const T extends Record<string, Method>>(table: T): T {
  return table;
}
