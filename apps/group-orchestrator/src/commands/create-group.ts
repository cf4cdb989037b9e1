import { deriveUuid } from '@flowly/bus';
import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import { decideOnce, type CommandHandler } from '@flowly/delivery';
import {
  groupMembers,
  groupMode,
  groupPolicies,
  groupTitle,
  resolvePolicies,
} from '@flowly/groups';
import type { GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { changedGroup } from '../outcomes';
import { addGroupEvent } from '../views/group-event';

/** `create`: the limit of groups is examined before what the group is to be (groups.md §2, order of checks). */
export function createGroup(orchestrator: Orchestrator): CommandHandler {
  const { store, limits } = orchestrator;
  return async (command) => {
    const params = parseParams(groupMethods['groups.create'].params, command.params);
    if (params.idempotencyKey !== undefined) {
      throw new ContractError('UNAVAILABLE', 'Idempotency keys of groups are not built yet.');
    }
    await store.transaction((groups) =>
      decideOnce(store.database, command, () => {
        if (groups.countGroups() >= limits.groups) {
          throw new ContractError('ROOM_LIMIT', `There can be at most ${limits.groups} groups.`);
        }
        const id = deriveUuid(command.id, 'group');
        const group = insert(orchestrator, groups, id, params);
        const committed = addGroupEvent(store, groups, group, { type: 'updated' });
        return changedGroup(committed, params.includeMessages);
      }),
    );
    return 'follows from the commit';
  };
}

function insert(
  { bot }: Orchestrator,
  groups: GroupTransaction,
  id: string,
  wanted: { title?: unknown; members?: unknown; mode?: unknown; memberPolicies?: unknown },
) {
  const title = groupTitle(wanted.title);
  const members = groupMembers(wanted.members);
  const missing = members.find((name) => bot(name) === null);
  if (missing !== undefined) {
    throw new ContractError('PROFILE_NOT_FOUND', `The bot ${missing} no longer exists.`);
  }
  const mode = groupMode(wanted.mode) ?? 'panel';
  const policies = groupPolicies(wanted.memberPolicies, members) ?? resolvePolicies(members, null);
  const createdAt = new Date().toISOString();
  return groups.insertGroup({ id, title, members, mode, policies, createdAt });
}
