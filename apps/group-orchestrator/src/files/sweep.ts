import { dirname } from 'node:path';
import { mediaInKept } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';

/** A message's files are written before it is committed, so a young file may still get its message. */
const STRAY_AGE_MS = 3_600_000;

/**
 * Removes the files of groups that are older than an hour and that no message of any group refers to (store.md §5):
 * what a process left that died between writing and committing, or after a deletion. Groups that a restore has replaced
 * count as long as they are kept. How many there were.
 */
export async function sweepFiles({
  store,
  media,
}: Pick<Orchestrator, 'store' | 'media'>): Promise<number> {
  const old = await media.writtenBefore(Date.now() - STRAY_AGE_MS);
  const unknown = await store.read((groups) => old.filter((id) => !groups.isReferredTo(id)));
  if (unknown.length === 0) return 0;
  const named = await store.read((groups) => groups.mediaInMessages());
  const kept = mediaInKept(dirname(store.database.file));
  const strays = unknown.filter((id) => !named.has(id) && !kept.has(id));
  return store.transaction((groups) => {
    // An import may have brought a message that refers to one meanwhile.
    const still = strays.filter((id) => !groups.isReferredTo(id));
    media.removeFiles(still);
    return still.length;
  });
}
