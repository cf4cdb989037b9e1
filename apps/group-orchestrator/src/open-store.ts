import { ContractError, type ErrorCode } from '@flowly/contract';
import type { ServiceConfig } from '@flowly/service';
import { openGroupStore, type GroupStore } from '@flowly/store';

/** Faults of the file itself: starting again would meet them again, and nobody can mend them but a person. */
const LASTING: readonly ErrorCode[] = ['ROOM_STORE_INVALID', 'ROOM_STORE_LIMIT'];

/** The group store, or why it stays closed (store.md §3). @throws what passes by itself, as a store that is held */
export async function openStore({
  home,
  limits,
}: ServiceConfig): Promise<{ opened: GroupStore } | { refusal: ContractError }> {
  try {
    return { opened: await openGroupStore({ home, busyMs: limits.storeBusyMs }) };
  } catch (error) {
    if (error instanceof ContractError && LASTING.includes(error.code)) return { refusal: error };
    throw error;
  }
}
