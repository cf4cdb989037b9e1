import { cutCharacters, type GroupUsage, isObject, type Usage, wellFormed } from '@flowly/contract';
import { nameMap } from './name-map';

/** Tokens used; input includes cache reads and writes. */
export interface Counters {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

export interface StoredMemberUsage extends Counters {
  calls: number;
  /** Model of the newest call. */
  model: string;
}

/** What a group has used, as `usage_json` holds it (groups.md §8). */
export interface StoredUsage extends Counters {
  turns: number;
  members: Record<string, StoredMemberUsage>;
}

const MAX_ROWS = 24;
const MAX_MODEL = 256;
const NONE: Counters = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Adds the usage of one heard turn; returns what was given when there is nothing to count. */
export function foldUsage(
  stored: StoredUsage | null,
  turn: { member: string; model: string; usage: Partial<Usage> | null },
): StoredUsage | null {
  const used = countersOf(turn.usage ?? {});
  if (Object.values(used).every((tokens) => tokens === 0)) return stored;
  const before = stored ?? { turns: 0, ...NONE, members: nameMap<StoredMemberUsage>([]) };
  return {
    turns: add(before.turns, 1),
    ...sum(before, used),
    members: foldMember(before.members, turn.member, turn.model, used),
  };
}

/** Usage as clients see it, but for its cost (`withCost`); null until a turn has been counted. */
export function publicUsage(stored: StoredUsage | null): GroupUsage | null {
  if (stored === null || stored.turns === 0) return null;
  const rows = Object.entries(stored.members).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    turns: stored.turns,
    ...countersIn(stored),
    members: rows.map(([profile, row]) => ({ profile, ...row })),
  };
}

/** Reads `usage_json` leniently: a counter that is none reads as 0, a row of another shape as absent. */
export function readUsage(stored: unknown): StoredUsage | null {
  if (!isObject(stored)) return null;
  const rows = isObject(stored['members']) ? Object.entries(stored['members']) : [];
  return {
    turns: count(stored['turns']),
    ...countersIn(stored),
    members: nameMap(
      rows
        .flatMap(([name, row]) => (isObject(row) ? [[name, readRow(row)] as const] : []))
        .slice(0, MAX_ROWS),
    ),
  };
}

function readRow(row: Record<string, unknown>): StoredMemberUsage {
  return { calls: count(row['calls']), model: modelName(row['model']), ...countersIn(row) };
}

function foldMember(
  members: StoredUsage['members'],
  name: string,
  model: string,
  used: Counters,
): StoredUsage['members'] {
  const row = Object.hasOwn(members, name) ? members[name] : undefined;
  if (row === undefined && Object.keys(members).length >= MAX_ROWS) return members;
  const folded: StoredMemberUsage = {
    calls: add(row?.calls ?? 0, 1),
    model: modelName(model) || (row?.model ?? ''),
    ...sum(row ?? NONE, used),
  };
  return nameMap([...Object.entries(members), [name, folded] as const]);
}

function countersIn(value: Partial<Record<keyof Counters, unknown>>): Counters {
  return {
    inputTokens: count(value.inputTokens),
    outputTokens: count(value.outputTokens),
    cacheReadTokens: count(value.cacheReadTokens),
    cacheWriteTokens: count(value.cacheWriteTokens),
  };
}

function countersOf(usage: Partial<Usage>): Counters {
  return {
    inputTokens: count(usage.prompt_tokens),
    outputTokens: count(usage.completion_tokens),
    cacheReadTokens: count(usage.cache_read_tokens),
    cacheWriteTokens: count(usage.cache_write_tokens),
  };
}

function sum(left: Counters, right: Counters): Counters {
  return {
    inputTokens: add(left.inputTokens, right.inputTokens),
    outputTokens: add(left.outputTokens, right.outputTokens),
    cacheReadTokens: add(left.cacheReadTokens, right.cacheReadTokens),
    cacheWriteTokens: add(left.cacheWriteTokens, right.cacheWriteTokens),
  };
}

/** Counters stop at 2^53−1. */
function add(left: number, right: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, left + right);
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return 0;
  return Math.min(Number.MAX_SAFE_INTEGER, value);
}

function modelName(value: unknown): string {
  return typeof value === 'string' ? cutCharacters(wellFormed(value), MAX_MODEL) : '';
}
