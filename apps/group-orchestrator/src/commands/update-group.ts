import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import {
  decideOnce,
  type CommandHandler,
  type Decision,
  type ReceivedCommand,
} from '@flowly/delivery';
import { isRunning, redefined, removedMembers } from '@flowly/groups';
import type { GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { changedGroup } from '../outcomes';
import { IDLE } from '../readiness/idle';
import { orderRemovals, sessionsToRemove } from '../sessions/remove-sessions';
import { addGroupEvent } from '../views/group-event';
import { botsOf, readDefinition, type GivenDefinition } from './definition';

type Update = GivenDefinition & { roomId: string; includeMessages: boolean };

/** `update`: the group and whether it is busy come before what it is to be (groups.md §2). */
export function updateGroup(orchestrator: Orchestrator): CommandHandler {
  const { store } = orchestrator;
  return async (command) => {
    const update = parseParams(groupMethods['groups.update'].params, command.params);
    await store.transaction((groups) =>
      decideOnce(store.database, command, () =>
        decideUpdate(orchestrator, groups, command, update),
      ),
    );
    return 'follows from the commit';
  };
}

function decideUpdate(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  command: ReceivedCommand,
  update: Update,
): Decision {
  const { store } = orchestrator;
  const found = groups.findGroup(update.roomId);
  if (!found) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
  if (isRunning(found.run)) {
    throw new ContractError('ROOM_BUSY_MEMBERS', 'The group is still answering.');
  }
  const definition = readDefinition(update, botsOf(orchestrator));
  const at = new Date();
  const gone = removedMembers(found.members, definition.members);
  const removals = sessionsToRemove(groups, found.id, gone, command.id, at.getTime());
  const stored = groups.updateGroup({
    ...redefined(found, definition),
    updatedAt: at.toISOString(),
  });
  const readiness = Object.fromEntries(gone.map((name) => [name, IDLE]));
  const committed = addGroupEvent(store, groups, stored, { type: 'updated' }, { readiness });
  return {
    ...changedGroup(committed, update.includeMessages),
    addJobs: () => orderRemovals(store, removals),
  };
}
