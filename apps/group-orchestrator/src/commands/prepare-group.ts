import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import type { CommandHandler } from '@flowly/delivery';
import type { Orchestrator } from '../orchestrator';
import { assertGoesOn, prepareMembers } from '../readiness/prepare-members';

/**
 * `prepare`: the group once every member is ready or failed (groups.md §9). It may be done again at any time, so there
 * is no outcome to keep.
 */
export function prepareGroup(orchestrator: Orchestrator): CommandHandler {
  const { store, snapshots, preparing, hostId } = orchestrator;
  return async (command) => {
    const params = parseParams(groupMethods['groups.prepare'].params, command.params);
    const { roomId, includeMessages } = params;
    const group = await store.read((groups) => groups.findGroup(roomId));
    if (!group) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
    assertGoesOn(orchestrator);
    await preparing.do(roomId, () => prepareMembers(orchestrator, roomId));
    const { value, after } = await snapshots.one(roomId, includeMessages);
    return { result: { hostId, room: value }, after: { event: after } };
  };
}
