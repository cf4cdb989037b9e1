import { faultPoint } from '@flowly/faults';
import { findOutcome, storeOutcome, type Database } from '@flowly/store';
import type { ReceivedCommand } from './command-server';
import { addReply } from './outbox';

/** What a command came to: the outcome to store, and what adds the jobs that follow from it. */
export interface Decision {
  outcome: unknown;
  /** What the first answer is made of, when it says more than the outcome that is kept. */
  answer?: unknown;
  addJobs?: () => void;
}

/**
 * One decision of a command, inside the transaction it changes rows in: it takes effect once however often the command
 * is delivered (design rule 2). `decide` changes rows and adds its events; the order in the outbox is events,
 * reply, jobs (a relay carries the jobs first: what the reply says is decided here). A second delivery changes nothing
 * and answers from the stored outcome.
 *
 * @throws what `decide` or the command's `recheck` throws: then nothing was changed and nothing is answered from here
 */
export function decideOnce(
  database: Database,
  command: Pick<ReceivedCommand, 'id' | 'gateway' | 'recheck'>,
  decide: () => Decision,
): void {
  const known = findOutcome(database, command.id);
  if (known !== null) {
    addReply(database, command, known);
    return;
  }
  command.recheck?.();
  const { outcome, answer = outcome, addJobs } = decide();
  storeOutcome(database, command.id, outcome, Date.now());
  faultPoint('outcome-stored');
  addReply(database, command, answer);
  addJobs?.();
  faultPoint('jobs-stored');
}
