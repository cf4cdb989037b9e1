import { deriveUuid } from '@flowly/bus';
import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import {
  decideOnce,
  type CommandHandler,
  type Decision,
  type ReceivedCommand,
} from '@flowly/delivery';
import { resolvePolicies, type Redefinition } from '@flowly/groups';
import { findCreate, storeCreate, type GroupRecord, type GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { changedGroup, replayedGroup } from '../outcomes';
import { addGroupEvent } from '../views/group-event';
import { botsOf, readDefinition, type GivenDefinition } from './definition';
import { contentOfCreate, isReplay } from './idempotency';

type Create = GivenDefinition & { includeMessages: boolean; idempotencyKey?: string | undefined };

/** `create`: the limit of groups is examined before what the group is to be (groups.md §2, order of checks). */
export function createGroup(orchestrator: Orchestrator): CommandHandler {
  const { store } = orchestrator;
  return async (command) => {
    const create = parseParams(groupMethods['groups.create'].params, command.params);
    await store.transaction((groups) =>
      decideOnce(store.database, command, () =>
        decideCreate(orchestrator, groups, command, create),
      ),
    );
    return 'follows from the commit';
  };
}

function decideCreate(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  command: ReceivedCommand,
  create: Create,
): Decision {
  const { store, limits } = orchestrator;
  const made = madeBefore(orchestrator, create);
  if (made !== null) return replayedGroup(made, create.includeMessages);
  if (groups.countGroups() >= limits.groups) {
    throw new ContractError('ROOM_LIMIT', `There can be at most ${limits.groups} groups.`);
  }
  const definition = readDefinition(create, botsOf(orchestrator));
  const at = new Date();
  const group = insert(groups, deriveUuid(command.id, 'group'), definition, at);
  if (create.idempotencyKey !== undefined) {
    const content = contentOfCreate(definition);
    const key = { content, groupId: group.id, at: at.getTime() };
    storeCreate(store.database, create.idempotencyKey, key);
  }
  const committed = addGroupEvent(store, groups, group, { type: 'updated' });
  return changedGroup(committed, create.includeMessages);
}

/**
 * The group that was made under this key, if any: the limit of groups does not stand against what is there already.
 * @throws ContractError IDEMPOTENCY_CONFLICT
 */
function madeBefore({ store, limits }: Orchestrator, create: Create): string | null {
  const { idempotencyKey } = create;
  if (idempotencyKey === undefined) return null;
  const made = findCreate(store.database, idempotencyKey, Date.now() - limits.createKeyMs);
  if (made === null) return null;
  // Its bots may have gone since.
  const definition = readDefinition(create, () => undefined);
  return isReplay(made.content, contentOfCreate(definition)) ? made.groupId : null;
}

function insert(
  groups: GroupTransaction,
  id: string,
  { title, members, mode = 'panel', policies }: Redefinition,
  at: Date,
): GroupRecord {
  const all = policies ?? resolvePolicies(members, null);
  return groups.insertGroup({
    id,
    title,
    members,
    mode,
    policies: all,
    createdAt: at.toISOString(),
  });
}
