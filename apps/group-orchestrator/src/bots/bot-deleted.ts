import { deriveUuid, jobId } from '@flowly/bus';
import type { BotDeleted } from '@flowly/contract';
import { addBotLeft, eachByItself } from '@flowly/delivery';
import { faultPoint } from '@flowly/faults';
import { isRunning, redefined } from '@flowly/groups';
import type { GroupReader, GroupRecord, GroupTransaction } from '@flowly/store';
import { removeGroup } from '../commands/remove-group';
import { removeUnreferred } from '../files/with-files';
import type { Orchestrator } from '../orchestrator';
import { IDLE } from '../readiness/idle';
import { addGroupEvent } from '../views/group-event';
import { stopGroups } from './stop-groups';

/** A group cannot do with fewer members. */
const FEWEST_MEMBERS = 2;

/**
 * A bot that is being deleted leaves every group (groups.md §5, §9): those that run are stopped first, and one that is
 * left with a single member is deleted. May be told any number of times, also when another bot has the name already:
 * each transaction looks whether it is still this one. Its runner hears of it when no group has the bot.
 */
export async function botDeleted(orchestrator: Orchestrator, job: BotDeleted): Promise<void> {
  const { store, relay } = orchestrator;
  faultPoint('leaving-taken');
  const isMember = ({ members }: GroupRecord) => members.includes(job.bot);
  while (!(await store.transaction((groups) => tellLeft(orchestrator, groups, job)))) {
    const left = await store.read((groups) => groups.listGroups().filter(isMember));
    await stopGroups(orchestrator, (group) => isGoing(orchestrator, job) && isMember(group));
    await eachByItself(left, ({ id }) => leaveGroup(orchestrator, id, job));
    // What is told of the groups comes before what is told of the bot.
    await relay.drain();
  }
  faultPoint('groups-left');
}

function isGoing({ isLeaving }: Orchestrator, { bot, botId }: BotDeleted): boolean {
  return isLeaving(bot, botId);
}

/** Whether there is nothing more to do: a group that was made with the bot a moment ago is seen here. */
function tellLeft(orchestrator: Orchestrator, groups: GroupReader, job: BotDeleted): boolean {
  if (!isGoing(orchestrator, job)) return true;
  const { bot, botId } = job;
  if (groups.listGroups().some(({ members }) => members.includes(bot))) return false;
  addBotLeft(orchestrator.store.database, jobId('bot-left', botId), {
    type: 'bot-left',
    bot,
    botId,
  });
  return true;
}

async function leaveGroup(
  orchestrator: Orchestrator,
  groupId: string,
  job: BotDeleted,
): Promise<void> {
  const files = await orchestrator.store.transaction(
    (groups) => {
      const group = groups.findGroup(groupId);
      if (!group?.members.includes(job.bot) || isRunning(group.run)) return [];
      return isGoing(orchestrator, job) ? withoutBot(orchestrator, groups, group, job) : [];
    },
    { unlimited: true },
  );
  faultPoint('group-left');
  if (files.length > 0) await removeUnreferred(orchestrator, files);
}

/** @returns files to be deleted after the commit */
function withoutBot(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  group: GroupRecord,
  { bot, botId }: BotDeleted,
): string[] {
  const members = group.members.filter((name) => name !== bot);
  if (members.length < FEWEST_MEMBERS) {
    const source = deriveUuid(botId, `deletion of ${group.id}`);
    const removed = removeGroup(orchestrator, groups, group, members, source);
    removed.orderSessions();
    return removed.files;
  }
  const { title } = group;
  const stored = groups.updateGroup({
    ...redefined(group, { title, members, mode: undefined, policies: undefined }),
    updatedAt: new Date().toISOString(),
  });
  const readiness = { [bot]: IDLE };
  addGroupEvent(orchestrator.store, groups, stored, { type: 'updated' }, { readiness });
  return [];
}
