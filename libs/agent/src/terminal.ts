import { z } from 'zod';
import {
  isErrorCode,
  isInternalSession,
  isRetryable,
  replyFileSchema,
  toolCallSchema,
  usageSchema,
  type BotStreamEvent,
  type ChatEvent,
  type StepEnded,
} from '@flowly/contract';
import { jobId } from '@flowly/bus';
import { addEvent, addGroupTurn } from '@flowly/delivery';
import type { Run } from '@flowly/store';
import type { Bot } from './bot';

const errorTitles: Record<string, string> = {
  MODEL_PROVIDER_UNAVAILABLE: "The model couldn't respond",
  AGENT_INTERNAL_ERROR: 'Something went wrong',
  RUN_INTERRUPTED: 'The answer was interrupted',
};

/** How a run ended, as it is kept with its receipt. */
export const terminalSchema = z.object({
  state: z.enum(['final', 'error']),
  text: z.string(),
  aborted: z.boolean(),
  /** The newest of the turn, oldest first, with the arguments that groups show. */
  toolCalls: z.array(toolCallSchema).optional(),
  usage: usageSchema.nullable(),
  model: z.string(),
  /** Tokens of the last question, as the provider counts them, and of the model's window. */
  contextTokens: z.number().optional(),
  contextWindow: z.number().optional(),
  /** Unix ms. */
  completedAt: z.number(),
  durationMs: z.number(),
  errorCode: z.string().optional(),
  errorMessage: z.string().optional(),
  /** Files of the answer in the bot's media, beside those its text names. */
  attachments: z.array(replyFileSchema).optional(),
});
export type Terminal = z.infer<typeof terminalSchema>;

/** An end at that moment (Unix ms) with nothing said. */
export function emptyTerminal(run: Pick<Run, 'startedAt'>, at: number): Terminal {
  return {
    state: 'final',
    text: '',
    aborted: false,
    usage: null,
    model: '',
    completedAt: at,
    durationMs: run.startedAt === null ? 0 : Math.max(0, at - run.startedAt),
  };
}

/** The state a run's row ends in. */
export function endStateOf(terminal: Terminal): 'completed' | 'aborted' | 'error' {
  if (terminal.state === 'error') return 'error';
  return terminal.aborted ? 'aborted' : 'completed';
}

/**
 * Tells of an end, in its own transaction: a client's run by an event, a group's step by a job. An internal
 * session has no event of its own (wire.md §5.2).
 */
export function announceEnd(
  bot: Bot,
  run: Pick<Run, 'runId' | 'sessionKey' | 'step'>,
  terminal: Terminal,
): void {
  if (run.step) {
    const job = stepEnded(run.step, terminal);
    addGroupTurn(bot.database, jobId('ended', run.step.stepKey), job);
  } else if (!isInternalSession(run.sessionKey)) {
    addEvent(bot.database, chatStreamEvent(bot, run, chatEvent(run, terminal)), {
      closed: [{ botId: bot.botId, runId: run.runId }],
    });
  }
}

/** Tells that a step has its row at the bot. */
export function announceAcceptance(bot: Bot, run: Run): void {
  if (!run.step) return;
  addGroupTurn(bot.database, jobId('accepted', run.step.stepKey), {
    type: 'accepted',
    ...run.step,
    at: run.acceptedAt,
  });
}

export function chatStreamEvent(
  bot: Bot,
  run: Pick<Run, 'sessionKey'>,
  data: ChatEvent,
): BotStreamEvent {
  const { name, botId } = bot;
  return { kind: 'bot', bot: name, botId, sessionKey: run.sessionKey, type: 'chat', data };
}

function chatEvent(run: Pick<Run, 'runId' | 'sessionKey'>, terminal: Terminal): ChatEvent {
  const { runId, sessionKey } = run;
  const { contextTokens, contextWindow } = terminal;
  if (terminal.state === 'error') {
    const code = terminal.errorCode ?? 'AGENT_INTERNAL_ERROR';
    return {
      state: 'error',
      runId,
      sessionKey,
      model: terminal.model,
      errorCode: code,
      errorTitle: errorTitles[code] ?? 'Something went wrong',
      errorMessage: terminal.errorMessage ?? '',
      retryable: isErrorCode(code) && isRetryable(code),
    };
  }
  return {
    state: 'final',
    runId,
    sessionKey,
    model: terminal.model,
    completedAt: terminal.completedAt,
    durationMs: terminal.durationMs,
    message: {
      role: 'assistant',
      content: [{ type: 'text', text: terminal.text }],
      usage: terminal.usage ?? {},
    },
    ...(contextTokens !== undefined && { contextTokens }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(terminal.aborted && { aborted: true }),
  };
}

function stepEnded(step: NonNullable<Run['step']>, terminal: Terminal): StepEnded {
  const { state, text, aborted, toolCalls, usage, model, durationMs } = terminal;
  const { errorCode, errorMessage, attachments } = terminal;
  return {
    type: 'ended',
    ...step,
    state,
    text,
    aborted,
    toolCalls: toolCalls ?? [],
    usage,
    model,
    durationMs,
    ...(errorCode !== undefined && { errorCode }),
    ...(errorMessage !== undefined && { errorMessage }),
    ...(attachments && { attachments }),
  };
}
