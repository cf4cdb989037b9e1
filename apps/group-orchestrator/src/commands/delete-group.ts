import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import { decideOnce, type CommandHandler } from '@flowly/delivery';
import { isRunning } from '@flowly/groups';
import type { GroupRecord, GroupTransaction } from '@flowly/store';
import { removeUnreferred } from '../files/with-files';
import type { Orchestrator } from '../orchestrator';
import { removeGroup } from './remove-group';

/** `delete`: messages, files that no other group has, and the private session at each member (groups.md §9). */
export function deleteGroup(orchestrator: Orchestrator): CommandHandler {
  const { store } = orchestrator;
  return async (command) => {
    const { roomId } = parseParams(groupMethods['groups.delete'].params, command.params);
    let files: string[] = [];
    await store.transaction(
      (groups) =>
        decideOnce(store.database, command, () => {
          const group = idleGroup(groups, roomId);
          const removed = removeGroup(orchestrator, groups, group, group.members, command.id);
          files = removed.files;
          return { outcome: { kind: 'done' }, addJobs: removed.orderSessions };
        }),
      { unlimited: true },
    );
    // What a process that dies here leaves is found by the sweep.
    if (files.length > 0) await removeUnreferred(orchestrator, files);
    return 'follows from the commit';
  };
}

function idleGroup(groups: GroupTransaction, groupId: string): GroupRecord {
  const group = groups.findGroup(groupId);
  if (!group) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
  if (isRunning(group.run)) {
    throw new ContractError('ROOM_BUSY_DELETE', 'The group is still answering.');
  }
  return group;
}
