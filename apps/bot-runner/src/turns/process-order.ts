import { removeGroupSession } from '@flowly/agent';
import { jobId } from '@flowly/bus';
import {
  envelopeSchema,
  groupOfSession,
  type SessionRemoval,
  type SessionRemoved,
  type SessionsTold,
} from '@flowly/contract';
import { botOrderSchema } from '@flowly/delivery';
import { groupSessionKeys } from '@flowly/store';
import { botLeft } from '../deletion/deletion';
import { openBotIfThere, type Runner } from '../runner';
import { processAbort } from './process-abort';
import { processGroupsStopped } from './process-groups-stopped';
import { wakeTurn } from './wake-turn';

/** Takes what a group orders of a bot beside its turns. */
export async function processOrder(runner: Runner, data: unknown): Promise<void> {
  const unpacked = await runner.bus.large.unpack(envelopeSchema.parse(data));
  // It is ordered again.
  if (unpacked === null) return;
  const order = botOrderSchema.parse(unpacked.body);
  switch (order.type) {
    case 'abort':
      return processAbort(runner, order);
    case 'remove-session':
      return processRemoval(runner, order);
    case 'list-sessions':
      return tellSessions(runner);
    case 'bot-left':
      return botLeft(runner, order);
    case 'groups-stopped':
      return processGroupsStopped(runner, order);
  }
}

/** Removes a private session; a bot that is gone has none. */
async function processRemoval(runner: Runner, removal: SessionRemoval): Promise<void> {
  const bot = await openBotIfThere(runner, removal.bot);
  if (bot === null) return tellRemoved(runner, removal);
  for (const { runId } of await removeGroupSession(bot, removal)) {
    wakeTurn(runner, bot.botId, runId);
  }
}

async function tellRemoved({ bus }: Runner, removal: SessionRemoval): Promise<void> {
  const { removalId, groupId, bot } = removal;
  const removed: SessionRemoved = { type: 'session-removed', removalId, groupId, bot };
  const id = jobId('session-removed', removalId);
  await bus.queues.add('group-turns', [{ id, data: await bus.large.pack(removed) }]);
}

/** Says of every bot which groups' private sessions it has: what is left behind is for the groups to find. */
async function tellSessions(runner: Runner): Promise<void> {
  const { bus, openBots, log } = runner;
  const bots = await openBots.openAll((name, error) =>
    log.error({ err: error, bot: name }, 'a bot cannot be opened'),
  );
  for (const { name, botId, database } of bots) {
    const groupIds = groupSessionKeys(database).flatMap((key) => groupOfSession(key) ?? []);
    if (groupIds.length === 0) continue;
    const told: SessionsTold = { type: 'sessions', bot: name, groupIds };
    const id = jobId('sessions', botId, ...groupIds);
    await bus.queues.add('group-turns', [{ id, data: await bus.large.pack(told) }]);
  }
}
