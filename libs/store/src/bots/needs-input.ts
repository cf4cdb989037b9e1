import { z } from 'zod';
import { isClientSession, needsInputSchema, type NeedsInput } from '@flowly/contract';
import type { Database } from '../core/database';

/** What people are asked for comes in this order, then the oldest (wire.md §5.2). */
const { options: kinds } = needsInputSchema.shape.kind;

const openSchema = z
  .object({
    session_key: z.string(),
    kind: z.enum(['approval', 'clarify']),
    created_at: z.number(),
  })
  .transform((row) => ({
    sessionKey: row.session_key,
    kind: row.kind === 'clarify' ? ('question' as const) : row.kind,
    since: row.created_at,
  }));
type Open = z.output<typeof openSchema>;

/** What the bot waits for a person for, in the sessions that clients see; null when it waits for nobody. */
export function needsInput(database: Database): NeedsInput | null {
  return foremost(openOf(database).filter(({ sessionKey }) => isClientSession(sessionKey)));
}

/** The same of each session that waits, by its key. */
export function needsInputBySession(
  database: Database,
): Map<string, Omit<NeedsInput, 'sessionKey'>> {
  const open = openOf(database);
  const keys = new Set(open.map(({ sessionKey }) => sessionKey));
  return new Map(
    [...keys].flatMap((key) => {
      const needed = foremost(open.filter(({ sessionKey }) => sessionKey === key));
      if (!needed) return [];
      const { sessionKey: _key, ...rest } = needed;
      return [[key, rest] as const];
    }),
  );
}

/** One that has expired counts until its turn has closed it: only then clients are told. */
function openOf(database: Database): Open[] {
  return database
    .all(
      `SELECT session_key, kind, created_at FROM requests WHERE closed_at IS NULL
       ORDER BY created_at, id`,
    )
    .map((row) => openSchema.parse(row));
}

/** @param open oldest first */
function foremost(open: readonly Open[]): NeedsInput | null {
  const kind = kinds.find((each) => open.some((request) => request.kind === each));
  const first = open.find((request) => request.kind === kind);
  return first ? { ...first, count: open.length } : null;
}
