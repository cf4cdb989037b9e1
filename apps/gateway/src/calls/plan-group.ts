import {
  canonicalUuid,
  ContractError,
  eventModeSchema,
  groupMethods,
  invalid,
  isObject,
  type EventMode,
  type GroupMethodName,
  type MethodName,
} from '@flowly/contract';
import { ALL_GROUPS, groupLane } from '../sockets/hold-back';
import { bot, type CallOrder, type Target } from './call-order';
import type { Caller, Plan } from './plan';

export function isGroupMethod(name: MethodName): name is GroupMethodName {
  return Object.hasOwn(groupMethods, name);
}

/** More groups make the whole import invalid (groups.md §9). */
const MOST_IMPORTED = 200;

const SNAPSHOTS: ReadonlySet<GroupMethodName> = new Set<GroupMethodName>([
  'groups.get',
  'groups.list',
]);

/**
 * `profiles.rooms.*`: the params go on as they came, because the orchestrator alone can check them in
 * the order of groups.md §2. Any such call opens the feed of groups, also one that fails.
 */
export function planGroupCall(name: GroupMethodName, params: unknown, caller: Caller): Plan {
  const given = params ?? {};
  const mode = isObject(given) ? given['eventMode'] : undefined;
  caller.subscribe({ to: 'groups', mode: knownMode(mode) });
  if (!isObject(given)) throw new ContractError('INVALID_PARAMS', 'params must be an object.');
  if (mode !== undefined && mode !== null && typeof mode !== 'string')
    invalid('eventMode must be text.');
  const lane = laneOf(name, given);
  return {
    command: { name, queue: 'group-commands', params: given },
    ceilingMs: groupMethods[name].ceilingMs,
    order: orderOf(name, given),
    offline: 'UNAVAILABLE',
    ...(lane === undefined ? {} : { lane }),
    ...(lane !== undefined && SNAPSHOTS.has(name) ? { snapshot: true } : {}),
  };
}

function knownMode(mode: unknown): EventMode | undefined {
  const known = eventModeSchema.safeParse(mode);
  return known.success ? known.data : undefined;
}

function laneOf(name: GroupMethodName, params: Record<string, unknown>): string | undefined {
  if (name === 'groups.list' || name === 'groups.import') return ALL_GROUPS;
  const id = groupIdOf(params);
  return id === null ? undefined : groupLane(id);
}

function groupIdOf(params: Record<string, unknown>): string | null {
  return typeof params['roomId'] === 'string' ? canonicalUuid(params['roomId']) : null;
}

function orderOf(name: GroupMethodName, params: Record<string, unknown>): CallOrder {
  const targets: Target[] =
    name === 'groups.import'
      ? importTargets(params)
      : [targetOf(name, params), ...membersOf(params)];
  return { changes: groupMethods[name].changes, waits: targets, touches: targets };
}

function targetOf(name: GroupMethodName, params: Record<string, unknown>): Target {
  const isAll = name === 'groups.list' || name === 'groups.storage';
  return isAll ? { kind: 'all-groups' } : { kind: 'group', id: groupIdOf(params) };
}

/** Every group that an import may make, and its bots. */
function importTargets(params: Record<string, unknown>): Target[] {
  const rooms = Array.isArray(params['rooms']) ? params['rooms'].slice(0, MOST_IMPORTED) : [];
  const targets = rooms.filter(isObject).flatMap((room): Target[] => {
    const id = typeof room['id'] === 'string' ? canonicalUuid(room['id']) : null;
    return [{ kind: 'group', id }, ...membersOf(room)];
  });
  return targets.length > 0 ? targets : [{ kind: 'group', id: null }];
}

/** A call that names bots comes after those that make or change them. */
function membersOf(params: Record<string, unknown>): Target[] {
  const members = Array.isArray(params['members']) ? params['members'].slice(0, 64) : [];
  return members.flatMap((name) => (typeof name === 'string' ? [bot(name, 'settings')] : []));
}
