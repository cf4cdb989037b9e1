import type { StepAccepted } from '@flowly/contract';
import { accepted, isRunning, memberOfStep } from '@flowly/groups';
import type { Orchestrator } from '../orchestrator';
import { addGroupEvent } from '../views/group-event';
import { changeStep, readRunSteps } from './run-steps';

/** The bot has a row for the step: the member works and is ready (groups.md §5). */
export async function stepAccepted({ store }: Orchestrator, job: StepAccepted): Promise<void> {
  await store.transaction((groups) => {
    const group = groups.findGroup(job.groupId);
    const run = group?.run;
    if (!group || !run || run.id !== job.runId || !isRunning(run)) return;
    const member = memberOfStep(run, job.stepKey);
    if (member === null) return;
    const at = new Date().toISOString();
    const next = accepted(run, member, { gatewayRunId: job.stepKey, at });
    if (next === run) return;
    const steps = readRunSteps(groups.readRunState(group.id, run.id));
    if (steps) {
      const taken = changeStep(steps, job.stepKey, { acceptedAt: job.at });
      groups.saveRunState(group.id, run.id, taken);
    }
    const stored = groups.updateGroup({ ...group, run: next });
    const ready = { state: 'ready' as const, updatedAt: at, error: '' };
    addGroupEvent(
      store,
      groups,
      stored,
      { type: 'readiness', profile: member },
      { readiness: { [member]: ready } },
    );
  });
}
