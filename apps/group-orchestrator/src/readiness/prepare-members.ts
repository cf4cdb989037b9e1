import { readReadiness } from '@flowly/bus';
import { ContractError, type Readiness } from '@flowly/contract';
import type { Orchestrator } from '../orchestrator';
import { addGroupEvent } from '../views/group-event';

/**
 * Looks whether each member can be used, and tells of what has changed by it (groups.md §9). A member that cannot is in
 * error with a text; that fails nothing. Resolves when what was found is to be seen everywhere.
 */
export async function prepareMembers(orchestrator: Orchestrator, groupId: string): Promise<void> {
  const { store, relay, redis, keys, botFault } = orchestrator;
  const group = await store.read((groups) => groups.findGroup(groupId));
  if (!group) return;
  // What was found a moment ago counts: it is not told again.
  await relay.drain();
  const known = await readReadiness(redis, keys, groupId, [...group.members]);
  await tellStarting(
    orchestrator,
    groupId,
    group.members.filter((name) => known[name]?.state === 'idle'),
  );
  const found = group.members.map((name) => [name, botFault(name)] as const);
  assertGoesOn(orchestrator);
  await tellFound(
    orchestrator,
    groupId,
    found.filter(([name, fault]) => !isKnown(known[name], fault)),
  );
  await relay.drain();
}

/** @throws ContractError HOST_STOPPED */
export function assertGoesOn({ ending }: Pick<Orchestrator, 'ending'>): void {
  if (ending.signal.aborted) throw new ContractError('HOST_STOPPED', 'The host is stopping.');
}

async function tellStarting(
  { store }: Orchestrator,
  groupId: string,
  starting: string[],
): Promise<void> {
  if (starting.length === 0) return;
  await store.transaction((groups) => {
    const group = groups.findGroup(groupId);
    if (group) addGroupEvent(store, groups, group, { type: 'readiness' }, { starting });
  });
}

async function tellFound(
  { store }: Orchestrator,
  groupId: string,
  found: readonly (readonly [string, string | null])[],
): Promise<void> {
  if (found.length === 0) return;
  await store.transaction((groups) => {
    const group = groups.findGroup(groupId);
    for (const [profile, fault] of found) {
      if (!group?.members.includes(profile)) continue;
      const readiness = { [profile]: readinessOf(fault) };
      addGroupEvent(store, groups, group, { type: 'readiness', profile }, { readiness });
    }
  });
}

function isKnown(known: Readiness | undefined, fault: string | null): boolean {
  return fault === null
    ? known?.state === 'ready'
    : known?.state === 'error' && known.error === fault;
}

function readinessOf(fault: string | null): Readiness {
  const updatedAt = new Date().toISOString();
  return fault === null
    ? { state: 'ready', updatedAt, error: '' }
    : { state: 'error', updatedAt, error: fault };
}
