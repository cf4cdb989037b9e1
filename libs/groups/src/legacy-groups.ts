import { invalid, isObject } from '@flowly/contract';
import { groupsOf, type ImportedGroup } from './import-group';
import { legacyMessage } from './import-message';
import { resolvePolicies } from './responders';
import type { StoredRun } from './run';
import { readStoredRun } from './stored-run';

/** A group as an old version kept it in a file (store.md §3). */
export interface LegacyGroup extends ImportedGroup {
  /** The newest run, if it is whole. */
  run: StoredRun | null;
}

const VERSION = 1;

/**
 * The groups of `profile-rooms.json`. They were here before, so neither must their bots still exist nor is the length
 * of their histories limited; a policy or a run that is invalid on its own costs only itself.
 * @throws ContractError INVALID_PARAMS, ROOM_INVALID for an id that is none, and the codes of a definition
 */
export function legacyGroups(value: unknown): LegacyGroup[] {
  if (!isObject(value) || value['version'] !== VERSION) invalid('The file has another version.');
  const { rooms } = value;
  const groups = groupsOf(rooms, {
    requireBot: () => undefined,
    maxMessages: Infinity,
    message: legacyMessage,
    policies: (given, members) => resolvePolicies(members, given),
  });
  const runs = Array.isArray(rooms) ? rooms.map(runOf) : [];
  return groups.map((group, at) => ({ ...group, run: wholeRun(runs[at], group.members) }));
}

/** By its name in files, or as clients are shown it. */
function runOf(room: unknown): unknown {
  return isObject(room) ? (room['run'] ?? room['runState']) : undefined;
}

/** Strict readers of the database refuse a run without its times. */
function wholeRun(value: unknown, members: readonly string[]): StoredRun | null {
  const run = readStoredRun(value, members);
  if (!run) return null;
  const times = [run.startedAt, ...Object.values(run.members).map(({ updatedAt }) => updatedAt)];
  if (run.state !== 'running') times.push(run.finishedAt);
  return times.includes('') ? null : run;
}
