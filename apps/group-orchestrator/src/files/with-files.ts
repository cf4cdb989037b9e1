import { ContractError, type GroupAttachment } from '@flowly/contract';
import { faultPoint } from '@flowly/faults';
import type { GroupReader } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';

type Files = Pick<Orchestrator, 'store' | 'media'>;

/**
 * Writes files, then does the commit that refers to them; those that it did not refer to, or that none was made for,
 * are removed again. What cannot be removed now is found by a sweep.
 * @param write adds to `written` what is on the disk
 */
export async function withFiles<T>(
  { store, media }: Files,
  write: (written: GroupAttachment[]) => Promise<void>,
  commit: (attachments: GroupAttachment[]) => Promise<T>,
): Promise<T> {
  const written: GroupAttachment[] = [];
  try {
    await write(written);
    faultPoint('files-written');
    return await commit(written);
  } finally {
    const mediaIds = written.flatMap(({ mediaId }) => mediaId ?? []);
    if (mediaIds.length > 0) await removeUnreferred({ store, media }, mediaIds);
  }
}

/**
 * A second delivery of the same command writes the same files, so one that failed may have removed them.
 * Only inside the transaction of the message that has them.
 * @throws ContractError ROOM_STORE_CONFLICT
 */
export function assertThere({ media }: Files, attachments: readonly GroupAttachment[]): void {
  const gone = attachments.some(({ mediaId }) => mediaId !== undefined && !media.has(mediaId));
  if (gone) throw new ContractError('ROOM_STORE_CONFLICT', 'The files of the message are gone.');
}

/** Decided in a transaction where one can be had: then no other delivery commits at the same time. */
export async function removeUnreferred(
  { store, media }: Files,
  mediaIds: readonly string[],
): Promise<void> {
  const unreferred = (groups: GroupReader) => mediaIds.filter((id) => !groups.isReferredTo(id));
  const remove = (groups: GroupReader) => media.removeFiles(unreferred(groups));
  try {
    if ((await store.read(unreferred)).length === 0) return;
    await store.transaction(remove).catch(() => store.read(remove));
  } catch (error) {
    // A store that cannot even be read says nothing of its files: they stay for the sweep.
    if (!(error instanceof ContractError)) throw error;
  }
}
