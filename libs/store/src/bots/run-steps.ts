import type { ToolCall } from '@flowly/contract';
import type { Database } from '../core/database';
import { addMessage, messagesOfRun, removeStepMessages } from './message';
import { findRun, type Run } from './run';

/** What a run adds to its session's history before its answer. */
export type RunStepMessage =
  | { role: 'assistant'; text: string; toolCalls: readonly ToolCall[] }
  | { role: 'tool'; text: string; toolCallId: string; toolName: string };

/**
 * Stores a step of a run: words with the tools they call for, or what a tool came to. False, and nothing is changed,
 * when the claim no longer stands. Only inside `database.write`.
 */
export function addRunStep(
  database: Database,
  claim: { runId: string; epoch: number },
  message: RunStepMessage,
  at: number,
): boolean {
  const run = findRun(database, claim.runId);
  if (run?.state !== 'running' || run.epoch !== claim.epoch) return false;
  addMessage(database, { ...run, role: message.role, payload: payloadOf(message), at });
  return true;
}

function payloadOf(message: RunStepMessage) {
  const { text } = message;
  if (message.role === 'assistant') return { text, toolCalls: [...message.toolCalls] };
  return { text, toolCallId: message.toolCallId, toolName: message.toolName };
}

/** The steps a run has stored, oldest first; its answer is none of them. */
export function runSteps(database: Database, run: Run): RunStepMessage[] {
  return messagesOfRun(database, run).flatMap(({ role, payload }): RunStepMessage[] => {
    const { text, toolCalls, toolCallId = '', toolName = '' } = payload;
    if (role === 'tool') return [{ role, text, toolCallId, toolName }];
    return role === 'assistant' && toolCalls ? [{ role, text, toolCalls }] : [];
  });
}

/** The first tool call of a run that has no result; null when there is none. */
export function unansweredCall(database: Database, run: Run): ToolCall | null {
  const messages = messagesOfRun(database, run);
  const answered = new Set(messages.map(({ payload }) => payload.toolCallId));
  const calls = messages.flatMap(({ payload }) => payload.toolCalls ?? []);
  return calls.find(({ id }) => !answered.has(id)) ?? null;
}

/** Takes the steps of a dead attempt away: the run starts again from its user's message. Only inside `database.write`. */
export function removeRunSteps(database: Database, run: Run): void {
  removeStepMessages(database, run);
}
