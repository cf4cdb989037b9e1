import { deriveUuid } from '@flowly/bus';
import {
  ContractError,
  groupMethods,
  parseParams,
  type GroupAttachment,
  type GroupFile,
} from '@flowly/contract';
import {
  decideOnce,
  type CommandHandler,
  type Decision,
  type ReceivedCommand,
} from '@flowly/delivery';
import { faultPoint } from '@flowly/faults';
import { isRunning, messageContent, whoAnswers } from '@flowly/groups';
import {
  findOutcome,
  findSend,
  storeSend,
  type GroupReader,
  type GroupRecord,
  type GroupStore,
  type GroupTransaction,
} from '@flowly/store';
import { withMessageFiles } from '../files/message-files';
import { assertThere } from '../files/with-files';
import type { Orchestrator } from '../orchestrator';
import { addStep, membersOf } from '../turns/give-step';
import { startRun } from '../turns/start-run';
import { changedGroup, replayedGroup } from '../outcomes';
import { addGroupEvent, type CommittedGroup } from '../views/group-event';
import { contentOfSend, isReplay, type Keyed } from './idempotency';

interface Send {
  groupId: string;
  includeMessages: boolean;
  content: string;
  files: readonly GroupFile[];
  keyed: Keyed | null;
}

/** `send`: the message, the run with every responder queued and the new `updatedAt` are one commit (groups.md §4). */
export function sendToGroup(orchestrator: Orchestrator): CommandHandler {
  const { store } = orchestrator;
  return async (command) => {
    faultPoint('send-taken');
    const send = parseSend(command);
    const { groupId, files } = send;
    const isWanted = (groups: GroupReader) => isNew(orchestrator, groups, command, send);
    const message = { groupId, commandId: command.id, files, isWanted };
    await withMessageFiles(orchestrator, message, (attachments) =>
      store.transaction((groups) =>
        decideOnce(store.database, command, () =>
          decideSend(orchestrator, groups, command, send, attachments),
        ),
      ),
    );
    return 'follows from the commit';
  };
}

function parseSend(command: ReceivedCommand): Send {
  const params = parseParams(groupMethods['groups.send'].params, command.params);
  const { roomId, includeMessages, attachments, idempotencyKey } = params;
  const content = messageContent(params.content, attachments.length > 0);
  const keyed =
    idempotencyKey === undefined
      ? null
      : { key: idempotencyKey, content: contentOfSend(content, attachments) };
  return { groupId: roomId, includeMessages, content, files: attachments, keyed };
}

/** Asked before the files are written: whether this command has yet to post its message. */
function isNew(
  { store }: Orchestrator,
  groups: GroupReader,
  command: ReceivedCommand,
  send: Send,
): boolean {
  if (findOutcome(store.database, command.id) !== null) return false;
  return groupFor(store, groups, send) !== 'sent before';
}

/** The group, free to take the message; the key is looked up before it can be busy (groups.md §2, our own additions). */
function groupFor(
  { database }: GroupStore,
  groups: GroupReader,
  { groupId, keyed }: Send,
): GroupRecord | 'sent before' {
  const found = groups.findGroup(groupId);
  if (!found) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
  if (keyed && isReplay(findSend(database, groupId, keyed.key), keyed.content)) {
    return 'sent before';
  }
  if (isRunning(found.run)) throw new ContractError('ROOM_BUSY', 'The group is still answering.');
  return found;
}

function decideSend(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  command: ReceivedCommand,
  send: Send,
  attachments: GroupAttachment[],
): Decision {
  const { database } = orchestrator.store;
  const { groupId, keyed } = send;
  const found = groupFor(orchestrator.store, groups, send);
  if (found === 'sent before') return replayedGroup(groupId, send.includeMessages);
  if (keyed) storeSend(database, groupId, keyed.key, keyed.content);
  assertThere(orchestrator, attachments);
  const at = new Date();
  const { group, message } = groups.appendMessage(found, {
    id: deriveUuid(command.id, 'message'),
    role: 'user',
    content: send.content,
    createdAt: at.toISOString(),
    ...(attachments.length > 0 && { attachments }),
  });
  const members = membersOf(orchestrator, group);
  const calls = whoAnswers({ text: send.content, members, policies: group.policies });
  const start = startRun(groups, group, deriveUuid(command.id, 'run'), calls, at);
  const stored = groups.updateGroup({
    ...group,
    run: start?.run ?? group.run,
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
    ...changedGroup(asReply(committed, calls.responders), send.includeMessages),
    addJobs: () => {
      if (!start) return;
      groups.saveRunState(group.id, start.run.id, start.steps);
      const running = { group: { ...stored, run: start.run }, members, ...calls };
      for (const step of start.given)
        addStep(orchestrator.store, groups, running, step, at.getTime());
    },
  };
}

/** The reply names all who were called, also those whose turn comes later (groups.md §1). */
function asReply(committed: CommittedGroup, responders: readonly string[]): CommittedGroup {
  if (responders.length === 0) return committed;
  return { ...committed, view: { ...committed.view, activeProfiles: [...responders] } };
}
