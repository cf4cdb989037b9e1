import { handlerMap, type CommandHandler } from '@flowly/delivery';
import type { Orchestrator } from '../orchestrator';
import { createGroup } from './create-group';
import { deleteGroup } from './delete-group';
import { mediaStorage } from './media-storage';
import { importGroups } from './import-groups';
import { prepareGroup } from './prepare-group';
import { getGroup, groupHistory, listGroups } from './read-groups';
import { resolveApproval, resolveQuestion } from './resolve-request';
import { sendToGroup } from './send-to-group';
import { stopGroup } from './stop-group';
import { updateGroup } from './update-group';

/** One handler a command of groups; the start fails when one is missing or doubled. */
export function groupHandlers(orchestrator: Orchestrator): Map<string, CommandHandler> {
  return handlerMap([
    ['groups.list', listGroups(orchestrator)],
    ['groups.get', getGroup(orchestrator)],
    ['groups.history', groupHistory(orchestrator)],
    ['groups.create', createGroup(orchestrator)],
    ['groups.update', updateGroup(orchestrator)],
    ['groups.delete', deleteGroup(orchestrator)],
    ['groups.prepare', prepareGroup(orchestrator)],
    ['groups.send', sendToGroup(orchestrator)],
    ['groups.stop', stopGroup(orchestrator)],
    ['groups.import', importGroups(orchestrator)],
    ['groups.approval.resolve', resolveApproval(orchestrator)],
    ['groups.clarify.resolve', resolveQuestion(orchestrator)],
    ['groups.storage', mediaStorage(orchestrator)],
  ]);
}
