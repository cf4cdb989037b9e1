import { jobId } from '@flowly/bus';
import {
  approvalDecisionSchema,
  characters,
  groupMethods,
  groupSessionKey,
  invalid,
  parseParams,
  wellFormed,
  type Attention,
  type RequestResolve,
} from '@flowly/contract';
import {
  addBotResolve,
  addReply,
  type CommandHandler,
  type ReceivedCommand,
} from '@flowly/delivery';
import { openRequestOf, stepKeyOf, type StoredRun } from '@flowly/groups';
import { findOutcome, type GroupRecord } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { requestIsClosed } from '../outcomes';

const MAX_ANSWER = 32_000;

/** What a person says to a request; examined when the request is known to be open (groups.md §2, order of checks). */
interface Word {
  groupId: string;
  kind: Attention['kind'];
  requestId: string;
  says: () => Pick<RequestResolve, 'decision' | 'answer'>;
}

/** `approval.resolve`: whether a member may run what it asks for. */
export function resolveApproval(orchestrator: Orchestrator): CommandHandler {
  const { params } = groupMethods['groups.approval.resolve'];
  return async (command) => {
    const { roomId: groupId, id: requestId, decision } = parseParams(params, command.params);
    const says = () => ({ decision: parseParams(approvalDecisionSchema, decision) });
    return handOver(orchestrator, command, { groupId, requestId, kind: 'approval', says });
  };
}

/** `clarify.resolve`: the answer to a member's question. */
export function resolveQuestion(orchestrator: Orchestrator): CommandHandler {
  const { params } = groupMethods['groups.clarify.resolve'];
  return async (command) => {
    const { roomId: groupId, id: requestId, answer } = parseParams(params, command.params);
    const says = () => ({ answer: answerOf(answer) });
    return handOver(orchestrator, command, { groupId, requestId, kind: 'clarify', says });
  };
}

/**
 * Hands a word on to the bot that asked, which decides whether it came in time; the call is answered when that is
 * known. The gateway gives the call again while it has no answer, so nothing here has to be repeated.
 */
async function handOver(
  { store }: Orchestrator,
  command: ReceivedCommand,
  word: Word,
): Promise<'follows from the commit'> {
  const { database } = store;
  await store.transaction((groups) => {
    const known = findOutcome(database, command.id);
    if (known !== null) return addReply(database, command, known);
    const step = askingStep(groups.findGroup(word.groupId), word);
    if (!step) throw requestIsClosed();
    addBotResolve(database, jobId('resolve', command.id), {
      type: 'resolve',
      ...step,
      kind: word.kind,
      requestId: word.requestId,
      ...word.says(),
      command: { id: command.id, gateway: command.gateway },
    });
  });
  return 'follows from the commit';
}

/** The step that waits for this word; null when none does. */
function askingStep(group: GroupRecord | null, { kind, requestId }: Word) {
  const run = group?.run;
  if (!group || !run) return null;
  const bot = group.members.find((member) => isAsked(run, member, kind, requestId));
  const stepKey = bot === undefined ? null : stepKeyOf(run, bot);
  if (bot === undefined || stepKey === null) return null;
  const sessionKey = groupSessionKey(group.id);
  return { bot, stepKey, groupId: group.id, runId: run.id, sessionKey };
}

function isAsked(run: StoredRun, member: string, kind: Attention['kind'], id: string): boolean {
  const open = openRequestOf(run, member);
  return open?.kind === kind && open.id === id;
}

function answerOf(answer: unknown): string {
  if (typeof answer !== 'string' || answer.trim() === '') invalid('The answer is missing.');
  if (characters(answer) > MAX_ANSWER)
    invalid(`The answer has more than ${MAX_ANSWER} characters.`);
  return wellFormed(answer);
}
