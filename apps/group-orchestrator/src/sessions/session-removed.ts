import type { SessionRemoved } from '@flowly/contract';
import { deleteRemoval } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';

/** The bot has removed the session: it is not ordered again. */
export async function sessionRemoved(
  { store }: Orchestrator,
  { removalId }: SessionRemoved,
): Promise<void> {
  await store.transaction(() => deleteRemoval(store.database, removalId));
}
