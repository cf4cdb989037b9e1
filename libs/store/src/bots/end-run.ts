import type { ToolCall, Usage } from '@flowly/contract';
import type { Database } from '../core/database';
import { addMessage } from './message';
import { findRun, type EndState } from './run';
import { noteAnswer } from './session';

/** What the bot said, as it joins the history. */
export interface AssistantMessage {
  text: string;
  usage: Usage | null;
  model: string;
  durationMs: number;
  aborted: boolean;
  /** Tool calls as clients are shown them. */
  toolCalls: readonly ToolCall[];
}

export interface RunEnd {
  runId: string;
  /** Of the caller's claim. */
  epoch: number;
  state: EndState;
  /** Kept with the receipt, for whoever asks again. */
  outcome: Record<string, unknown>;
  /** Null adds nothing to the history. */
  message: AssistantMessage | null;
  /** Unix ms. */
  at: number;
}

/**
 * Ends a running run and frees its session. False, and nothing is changed, when the claim is older
 * than the run's epoch or the run has ended: the fence (design rule 3). Only inside `database.write`.
 */
export function endRun(database: Database, end: RunEnd): boolean {
  const changed = database.run(
    `UPDATE runs SET state = ?, ended_at = ?, outcome = ?, owner = NULL, alive_until = NULL
     WHERE run_id = ? AND epoch = ? AND state = 'running'`,
    end.state,
    end.at,
    JSON.stringify(end.outcome),
    end.runId,
    end.epoch,
  );
  if (changed === 0) return false;
  if (end.message) addAnswer(database, end.runId, end.message, end.at);
  return true;
}

/**
 * Ends a run that has not begun; its message never joins the history. False when it has begun or ended. Only inside
 * `database.write`.
 */
export function endWaitingRun(
  database: Database,
  end: Pick<RunEnd, 'runId' | 'state' | 'outcome' | 'at'>,
): boolean {
  const changed = database.run(
    `UPDATE runs SET state = ?, ended_at = ?, outcome = ? WHERE run_id = ? AND state = 'accepted'`,
    end.state,
    end.at,
    JSON.stringify(end.outcome),
    end.runId,
  );
  return changed === 1;
}

function addAnswer(database: Database, runId: string, message: AssistantMessage, at: number): void {
  const run = findRun(database, runId);
  if (!run) return;
  const { text, model, durationMs, usage, aborted, toolCalls } = message;
  addMessage(database, {
    ...run,
    role: 'assistant',
    payload: {
      text,
      model,
      durationMs,
      ...(usage && { usage }),
      ...(aborted && { aborted }),
      ...(toolCalls.length > 0 && { toolCalls: [...toolCalls] }),
    },
    at,
  });
  noteAnswer(database, run.sessionKey, runId, at);
}
