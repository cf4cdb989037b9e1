import { ContractError, groupMethods, parseParams, type MethodResult } from '@flowly/contract';
import { AFTER_NOTHING, type CommandHandler } from '@flowly/delivery';
import type { Orchestrator } from '../orchestrator';

type Storage = Omit<MethodResult<'groups.storage'>, 'hostId'>;

/** From here on a group's files are worth a word to its owner. */
const NOTICE_BYTES = 524_288_000;
/** The answer of a store that cannot be read (store.md §3): this method never fails by it. */
const UNKNOWN: Storage = { rooms: [], totalBytes: 0, noticeBytes: NOTICE_BYTES };

/** `storage` (groups.md §9): what the files of each group take, whether a message refers to them or not. */
export function mediaStorage(orchestrator: Orchestrator): CommandHandler {
  return async ({ params }) => {
    parseParams(groupMethods['groups.storage'].params, params);
    return storageAnswer(orchestrator.hostId, await readStorage(orchestrator));
  };
}

/** `storage` where the store could not even be opened. */
export function unknownStorage(hostId: string): CommandHandler {
  return async ({ params }) => {
    parseParams(groupMethods['groups.storage'].params, params);
    return storageAnswer(hostId, UNKNOWN);
  };
}

async function readStorage({ store, media }: Orchestrator): Promise<Storage> {
  try {
    const groups = await store.read((reader) => reader.listGroups());
    const { byGroup, total } = await media.usage();
    const rooms = groups
      .map(({ id, title }) => ({ roomId: id, title, mediaBytes: byGroup.get(id.slice(0, 8)) ?? 0 }))
      .map((room) => ({ ...room, overNotice: room.mediaBytes >= NOTICE_BYTES }))
      .sort((a, b) => b.mediaBytes - a.mediaBytes);
    return { rooms, totalBytes: total, noticeBytes: NOTICE_BYTES };
  } catch (error) {
    if (error instanceof ContractError) return UNKNOWN;
    throw error;
  }
}

function storageAnswer(hostId: string, storage: Storage) {
  return { result: { hostId, ...storage }, after: AFTER_NOTHING };
}
