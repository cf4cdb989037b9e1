import { handlerMap, type CommandHandler } from '@flowly/delivery';
import type { Orchestrator } from '../orchestrator';
import { createGroup } from './create-group';
import { getGroup, groupHistory, listGroups } from './read-groups';
import { sendToGroup } from './send-to-group';
import { stopGroup } from './stop-group';

/** One handler a command of groups; the start fails when one is missing or doubled. */
export function groupHandlers(orchestrator: Orchestrator): Map<string, CommandHandler> {
  return handlerMap([
    ['groups.list', listGroups(orchestrator)],
    ['groups.get', getGroup(orchestrator)],
    ['groups.history', groupHistory(orchestrator)],
    ['groups.create', createGroup(orchestrator)],
    ['groups.send', sendToGroup(orchestrator)],
    ['groups.stop', stopGroup(orchestrator)],
  ]);
}
