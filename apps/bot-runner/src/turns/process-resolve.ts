import { resolveForGroup } from '@flowly/agent';
import { jobId } from '@flowly/bus';
import {
  envelopeSchema,
  requestResolveSchema,
  type RequestResolve,
  type RequestResolved,
} from '@flowly/contract';
import { openBotIfThere, type Runner } from '../runner';
import { noticeDecision } from './wake-turn';

/** Takes what a person decided in a group; one for a bot that is gone comes too late. */
export async function processResolve(runner: Runner, data: unknown): Promise<void> {
  const unpacked = await runner.bus.large.unpack(envelopeSchema.parse(data));
  // Nobody knows what it was; the call it comes from ends by its ceiling.
  if (unpacked === null) return;
  const job = requestResolveSchema.parse(unpacked.body);
  const bot = await openBotIfThere(runner, job.bot);
  if (bot === null) return refuse(runner, job);
  const runId = await bot.database.write(() => resolveForGroup(bot, job, Date.now()));
  if (runId !== null) noticeDecision(runner, bot.botId, runId);
}

async function refuse({ bus }: Runner, job: RequestResolve): Promise<void> {
  const { stepKey, groupId, runId, bot, requestId, kind, command } = job;
  const at = Date.now();
  const resolved: RequestResolved = {
    type: 'resolved',
    stepKey,
    groupId,
    runId,
    bot,
    requestId,
    kind,
    command,
    taken: false,
    at,
  };
  const id = jobId('resolved', requestId, command.id);
  await bus.queues.add('group-turns', [{ id, data: await bus.large.pack(resolved) }]);
}
