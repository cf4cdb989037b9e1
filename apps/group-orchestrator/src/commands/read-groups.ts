import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import { decodeCursor, encodeCursor } from '@flowly/groups';
import type { Orchestrator } from '../orchestrator';

/** `list`: every group, newest change first. */
export function listGroups({ snapshots, hostId }: Orchestrator): CommandHandler {
  return async (command) => {
    const { includeMessages } = parseParams(groupMethods['groups.list'].params, command.params);
    const { value, after } = await snapshots.all(includeMessages);
    return { result: { hostId, rooms: value }, after: { event: after } };
  };
}

/** `get`: one group. */
export function getGroup({ snapshots, hostId }: Orchestrator): CommandHandler {
  return async (command) => {
    const params = parseParams(groupMethods['groups.get'].params, command.params);
    const { value, after } = await snapshots.one(params.roomId, params.includeMessages);
    return { result: { hostId, room: value }, after: { event: after } };
  };
}

/** `history`: a page before a cursor; limit, cursor and group are examined in this order. */
export function groupHistory({ store, hostId }: Orchestrator): CommandHandler {
  return async (command) => {
    const params = parseParams(groupMethods['groups.history'].params, command.params);
    const { roomId, limit = 50, cursor } = params;
    const before = cursor === null ? null : decodeCursor(cursor, roomId);
    const page = await store.read((groups) => {
      if (!groups.findGroup(roomId)) {
        throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
      }
      return groups.historyPage(roomId, before, limit);
    });
    const { messages, nextSeq, hasMore, total } = page;
    return {
      result: {
        hostId,
        roomId,
        messages,
        nextCursor: nextSeq === null ? null : encodeCursor(roomId, nextSeq),
        hasMore,
        totalCount: total,
      },
      after: AFTER_NOTHING,
    };
  };
}
