import type { LiveRecords, LiveSnapshot } from '@flowly/bus';
import {
  MOST_ITERATIONS,
  type ChatInflightResult,
  type ChatIterationStep,
  type Inflight,
} from '@flowly/contract';
import {
  newestBegunRun,
  runSteps,
  shownToolCalls,
  type Run,
  type RunStepMessage,
} from '@flowly/store';
import type { Bot } from './bot';
import { listApprovals, listQuestions } from './requests';

/** Clients drop a longer line at 4 MiB (wire.md §6); the text is never cut. */
const MOST_BYTES = 3 * 1024 * 1024;
const NO_RUN = '';

/**
 * What a session shows at one moment of the event stream (bots.md §3.3): with the events after `after`, exactly what a
 * client that was there all the time has. A run counts until its terminal is among the events.
 */
export async function inflightOf(
  bot: Bot,
  sessionKey: string,
  live: Pick<LiveRecords, 'snapshot'>,
): Promise<{ result: ChatInflightResult; after: string }> {
  for (;;) {
    const { runId = NO_RUN } = newestBegunRun(bot.database, sessionKey) ?? {};
    const shown = await live.snapshot({ botId: bot.botId, runId });
    const result = bot.database.read(() => {
      // Another has begun meanwhile, and some of its words may be among the events.
      const newest = newestBegunRun(bot.database, sessionKey);
      if ((newest?.runId ?? NO_RUN) !== runId) return null;
      return resultOf(bot, sessionKey, newest && inflight(bot, newest, shown));
    });
    if (result !== null) return { result, after: shown.after };
  }
}

function resultOf(bot: Bot, sessionKey: string, inflight: Inflight | null): ChatInflightResult {
  const at = Date.now();
  return {
    inflight,
    plan: null,
    compaction: null,
    goal: null,
    approvals: listApprovals(bot, at, sessionKey),
    clarifies: listQuestions(bot, at, sessionKey),
  };
}

function inflight(bot: Bot, run: Run, { ended, isThere, text, steps }: LiveSnapshot) {
  if (ended || (!isThere && run.endedAt !== null)) return null;
  const stored = runSteps(bot.database, run);
  // A step is stored before it is told; without a record nobody knows how many were.
  const told = isThere ? stored.slice(0, steps.count) : stored;
  const iterations = newestThatFit(iterationSteps(run, told).slice(-MOST_ITERATIONS));
  const toolProgress = newestThatFit(steps.progress);
  return {
    runId: run.runId,
    text,
    user: run.message,
    iterations,
    ...(toolProgress.length > 0 && { toolProgress }),
  };
}

/** The events that told of the steps (wire.md §5.1). */
function iterationSteps(
  { runId, sessionKey }: Run,
  steps: readonly RunStepMessage[],
): ChatIterationStep[] {
  const state = 'iteration_step';
  let iterationIdx = -1;
  return steps.map((step) => {
    if (step.role === 'assistant') iterationIdx++;
    const head = { state, runId, sessionKey, iterationIdx, content: step.text } as const;
    return step.role === 'assistant'
      ? { ...head, role: step.role, tool_calls: shownToolCalls(step.toolCalls) }
      : { ...head, role: step.role, tool_call_id: step.toolCallId, name: step.toolName };
  });
}

function newestThatFit<T>(items: readonly T[]): T[] {
  let left = MOST_BYTES / 2;
  const first = items.findLastIndex((item) => {
    left -= Buffer.byteLength(JSON.stringify(item));
    return left < 0;
  });
  return items.slice(first + 1);
}
