import { deriveUuid } from '@flowly/bus';
import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import {
  decideOnce,
  type CommandHandler,
  type Decision,
  type ReceivedCommand,
} from '@flowly/delivery';
import {
  isRunning,
  messageContent,
  newPanelRun,
  panelStepKey,
  whoAnswers,
  type GroupMember,
  type StoredRun,
} from '@flowly/groups';
import type { GroupRecord, GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { addStep, membersOf } from '../turns/give-step';
import { panelSteps } from '../turns/run-steps';
import { changedGroup } from '../outcomes';
import { addGroupEvent } from '../views/group-event';

interface Send {
  groupId: string;
  includeMessages: boolean;
  content: string;
}

/** `send`: the message, the run with every responder queued and the new `updatedAt` are one commit (groups.md §4). */
export function sendToGroup(orchestrator: Orchestrator): CommandHandler {
  const { store } = orchestrator;
  return async (command) => {
    const send = parseSend(command);
    await store.transaction((groups) =>
      decideOnce(store.database, command, () => decideSend(orchestrator, groups, command, send)),
    );
    return 'follows from the commit';
  };
}

function parseSend(command: ReceivedCommand): Send {
  const params = parseParams(groupMethods['groups.send'].params, command.params);
  const { roomId, includeMessages, attachments, idempotencyKey } = params;
  const content = messageContent(params.content, attachments.length > 0);
  if (attachments.length > 0 || idempotencyKey !== undefined) {
    throw new ContractError(
      'UNAVAILABLE',
      'Files and idempotency keys of groups are not built yet.',
    );
  }
  return { groupId: roomId, includeMessages, content };
}

function decideSend(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  command: ReceivedCommand,
  send: Send,
): Decision {
  const found = groups.findGroup(send.groupId);
  if (!found) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
  if (isRunning(found.run)) throw new ContractError('ROOM_BUSY', 'The group is still answering.');
  if (found.mode === 'council') {
    throw new ContractError('UNAVAILABLE', 'Councils are not built yet.');
  }
  const at = new Date();
  const { group, message } = groups.appendMessage(found, {
    id: deriveUuid(command.id, 'message'),
    role: 'user',
    content: send.content,
    createdAt: at.toISOString(),
  });
  const members = membersOf(orchestrator, group);
  const calls = whoAnswers({ text: send.content, members, policies: group.policies });
  const run = startRun(command, group, calls.responders, at);
  const stored = groups.updateGroup({
    ...group,
    run: run ?? group.run,
    updatedAt: at.toISOString(),
  });
  const committed = addGroupEvent(
    orchestrator.store,
    groups,
    stored,
    { type: 'updated', appended: [message] },
    { starting: calls.responders },
  );
  return {
    ...changedGroup(committed, send.includeMessages),
    addJobs: () => {
      if (run) giveAll(orchestrator, groups, { ...stored, run }, calls, members, at.getTime());
    },
  };
}

/** Nobody to answer → no run (groups.md §3.6). */
function startRun(
  command: ReceivedCommand,
  group: GroupRecord,
  responders: readonly string[],
  at: Date,
): StoredRun | null {
  if (responders.length === 0) return null;
  const id = deriveUuid(command.id, 'run');
  return newPanelRun({ id, responders, at: at.toISOString(), boundary: group.live });
}

function giveAll(
  { store }: Orchestrator,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  calls: { responders: string[]; directed: boolean },
  members: readonly GroupMember[],
  at: number,
): void {
  const steps = calls.responders.map((member) => ({
    member,
    stepKey: panelStepKey(group.run.id, member),
  }));
  groups.saveRunState(group.id, group.run.id, panelSteps(steps, calls.directed, at));
  for (const step of steps) addStep(store, groups, group, step, members, at);
}
