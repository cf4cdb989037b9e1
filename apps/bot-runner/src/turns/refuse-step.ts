import { jobId } from '@flowly/bus';
import type { StepAborted, StepEnded, StepGiven } from '@flowly/contract';
import type { Runner } from '../runner';

/**
 * Tells a group that a member's bot is gone: it can neither answer nor end what it was asked to. No row can say so,
 * and the order is repeated until this is heard.
 */
export async function refuseStep(runner: Runner, step: StepGiven | StepAborted): Promise<void> {
  const { stepKey, groupId, runId, bot } = step;
  const ended: StepEnded = {
    type: 'ended',
    stepKey,
    groupId,
    runId,
    bot,
    state: 'error',
    text: '',
    aborted: step.type === 'abort',
    toolCalls: [],
    usage: null,
    model: '',
    durationMs: 0,
    errorCode: 'PROFILE_NOT_FOUND',
    errorMessage: 'This bot no longer exists.',
  };
  await runner.bus.queues.add('group-turns', [
    { id: jobId('ended', stepKey), data: await runner.bus.large.pack(ended) },
  ]);
}
