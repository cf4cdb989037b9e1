import type { StepAccepted } from '@flowly/contract';
import { faultPoint } from '@flowly/faults';
import { accepted } from '@flowly/groups';
import type { GroupStore, GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { addGroupEvent } from '../views/group-event';
import { missRequest } from './close-request';
import { changeOpenStep, findOpenStep, type OpenStep } from './open-step';

/** The bot has a row for the step: the member works and is ready (groups.md §5). */
export async function stepAccepted({ store }: Orchestrator, job: StepAccepted): Promise<void> {
  faultPoint('acceptance-taken');
  const accept = (groups: GroupTransaction) => {
    const step = findOpenStep(groups, job);
    if (!step) return;
    if (acceptStep(store, groups, step, job.at) === step) missRequest(store, groups, step);
  };
  // Held to no limit: a member whose beginning is not stored could not come to its end.
  await store.transaction(accept, { unlimited: true });
  faultPoint('acceptance-committed');
}

/**
 * Lets the member begin, if it has not.
 * @param acceptedAt Unix ms, by the bot's clock
 * @returns the step as it is now; the same when it had begun
 */
export function acceptStep(
  store: GroupStore,
  groups: GroupTransaction,
  step: OpenStep,
  acceptedAt: number,
): OpenStep {
  const { group, member, stepKey } = step;
  const at = new Date().toISOString();
  const run = accepted(group.run, member, { gatewayRunId: stepKey, at });
  if (run === group.run) return step;
  const begun = changeOpenStep(groups, step, run, { acceptedAt });
  const ready = { state: 'ready' as const, updatedAt: at, error: '' };
  addGroupEvent(
    store,
    groups,
    begun.group,
    { type: 'readiness', profile: member },
    { readiness: { [member]: ready } },
  );
  return begun;
}
