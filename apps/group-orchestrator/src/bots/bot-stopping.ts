import { jobId } from '@flowly/bus';
import type { BotStopping } from '@flowly/contract';
import { addGroupsStopped } from '@flowly/delivery';
import { faultPoint } from '@flowly/faults';
import type { Orchestrator } from '../orchestrator';
import { isAtWork, stopGroups } from './stop-groups';

/**
 * The owner stops a bot: first the groups it is at work in, then its runner hears that they are stopped. May be told any
 * number of times, also when it is done and the bot at work again: then nothing is stopped.
 */
export async function botStopping(orchestrator: Orchestrator, job: BotStopping): Promise<void> {
  const { database } = orchestrator.store;
  const { bot, botId, command } = job;
  faultPoint('stop-taken');
  if (orchestrator.isStopping(job)) await stopGroups(orchestrator, isAtWork(bot));
  await orchestrator.store.transaction(() =>
    addGroupsStopped(database, jobId('groups-stopped', command.id), {
      type: 'groups-stopped',
      bot,
      botId,
      command,
    }),
  );
  faultPoint('groups-stopped');
}
