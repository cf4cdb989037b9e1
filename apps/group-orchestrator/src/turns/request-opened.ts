import type { RequestOpened } from '@flowly/contract';
import { attentionOf, openRequestOf, requestOpened as opened } from '@flowly/groups';
import type { Orchestrator } from '../orchestrator';
import { addGroupEvent } from '../views/group-event';
import { remember } from './close-request';
import { changeOpenStep, findOpenStep } from './open-step';
import { acceptStep } from './step-accepted';

/**
 * The member waits for a person (groups.md §7). Told before its acceptance, it counts as both; told again, it confirms
 * that the request is still open.
 */
export async function requestOpened({ store }: Orchestrator, job: RequestOpened): Promise<void> {
  await store.transaction((groups) => {
    const found = findOpenStep(groups, job);
    const { closedRequests = [] } = found?.step ?? {};
    if (!found || closedRequests.includes(job.requestId)) return;
    const step = acceptStep(store, groups, found, job.at);
    const { member, group } = step;
    const before = openRequestOf(group.run, member);
    const run = opened(group.run, attentionOf(job), new Date().toISOString());
    if (run === group.run) {
      if (step.step.unconfirmed) changeOpenStep(groups, step, run, { unconfirmed: 0 });
      return;
    }
    // A turn has one request open, so an earlier one is over, whose close has not been heard yet.
    const { group: stored } = changeOpenStep(groups, step, run, {
      unconfirmed: 0,
      ...(before && { closedRequests: remember(closedRequests, before.id) }),
    });
    addGroupEvent(store, groups, stored, { type: 'attention', profile: member });
  });
}
