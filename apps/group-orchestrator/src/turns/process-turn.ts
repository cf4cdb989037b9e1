import { envelopeSchema, orchestratorJobSchema, type OrchestratorJob } from '@flowly/contract';
import type { LargeValues } from '@flowly/bus';
import { botDeleted } from '../bots/bot-deleted';
import { botStopping } from '../bots/bot-stopping';
import type { Orchestrator } from '../orchestrator';
import { sessionsTold } from '../sessions/left-sessions';
import { sessionRemoved } from '../sessions/session-removed';
import { requestClosed, requestResolved } from './request-closed';
import { requestOpened } from './request-opened';
import { stepAccepted } from './step-accepted';
import { stepEnded } from './step-ended';

/** Takes what the runners tell of steps, sessions and bots that go. A job whose value is gone is told again by the reconciler's doing. */
export async function processTurn(
  orchestrator: Orchestrator,
  large: LargeValues,
  data: unknown,
): Promise<void> {
  const unpacked = await large.unpack(envelopeSchema.parse(data));
  if (unpacked === null) return;
  const job = orchestratorJobSchema.parse(unpacked.body);
  await take(orchestrator, job);
}

function take(orchestrator: Orchestrator, job: OrchestratorJob): Promise<void> {
  switch (job.type) {
    case 'accepted':
      return stepAccepted(orchestrator, job);
    case 'ended':
      return stepEnded(orchestrator, job);
    case 'request-opened':
      return requestOpened(orchestrator, job);
    case 'request-closed':
      return requestClosed(orchestrator, job);
    case 'resolved':
      return requestResolved(orchestrator, job);
    case 'session-removed':
      return sessionRemoved(orchestrator, job);
    case 'sessions':
      return sessionsTold(orchestrator, job);
    case 'bot-deleted':
      return botDeleted(orchestrator, job);
    case 'bot-stopping':
      return botStopping(orchestrator, job);
  }
}
