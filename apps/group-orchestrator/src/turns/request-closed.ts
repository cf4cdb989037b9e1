import type { RequestClosed, RequestResolved } from '@flowly/contract';
import { decideOnce } from '@flowly/delivery';
import type { Orchestrator } from '../orchestrator';
import { closeRequest } from './close-request';
import { findOpenStep } from './open-step';

/** A request was answered somewhere, has expired or was given up: the member works on (groups.md §7). */
export async function requestClosed({ store }: Orchestrator, job: RequestClosed): Promise<void> {
  await store.transaction((groups) => {
    const open = findOpenStep(groups, job);
    if (open) closeRequest(store, groups, open, job.requestId);
  });
}

/**
 * What a resolve came to at the bot, whose row decides who answers first: the request is over either way, and the call
 * that waits for it is answered (groups.md §7).
 */
export async function requestResolved(
  { store }: Orchestrator,
  job: RequestResolved,
): Promise<void> {
  await store.transaction((groups) => {
    decideOnce(store.database, job.command, () => {
      const open = findOpenStep(groups, job);
      if (open) closeRequest(store, groups, open, job.requestId);
      return { outcome: { kind: job.taken ? 'done' : 'request closed' } };
    });
  });
}
