import { envelopeSchema, orchestratorJobSchema } from '@flowly/contract';
import type { LargeValues } from '@flowly/bus';
import type { Orchestrator } from '../orchestrator';
import { stepAccepted } from './step-accepted';
import { stepEnded } from './step-ended';

/** Takes what the runners tell of steps. A job whose value is gone is told again by the reconciler's doing. */
export async function processTurn(
  orchestrator: Orchestrator,
  large: LargeValues,
  data: unknown,
): Promise<void> {
  const unpacked = await large.unpack(envelopeSchema.parse(data));
  if (unpacked === null) return;
  const job = orchestratorJobSchema.parse(unpacked.body);
  if (job.type === 'accepted') await stepAccepted(orchestrator, job);
  else await stepEnded(orchestrator, job);
}
