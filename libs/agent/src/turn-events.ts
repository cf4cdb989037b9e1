import {
  isInternalSession,
  isObject,
  type BotStreamEvent,
  type ChatToolProgress,
  type ToolCall,
} from '@flowly/contract';
import { shownToolCalls, type Run } from '@flowly/store';
import type { Bot } from './bot';
import type { CallTold } from './told-steps';

/** What watchers of a conversation are told of the steps of an answer (wire.md §5.1); of an internal session nothing. */

const MOST_NAME = 128;
const MOST_RESULT = 32_768;
const MOST_PREVIEW = 200;
/** Later attempts of a run have higher revisions. */
const REVISIONS_OF_ATTEMPT = 1_000_000;

/** A tool call on its way, with what watchers keep of it. */
export interface ShownCall extends ToolCall {
  /** Place among the calls of its step. */
  index: number;
  iterationIdx: number;
  /** Unix ms. */
  startedAt: number;
}

export interface CallEnd {
  state: 'completed' | 'failed' | 'stopped';
  text: string;
  /** Unix ms. */
  at: number;
}

/** Makes the events of one attempt of a run. */
export class TurnEvents {
  /** 0 is for the end of what the attempt before it was at: a client keeps the highest. */
  private revision = 1;

  constructor(
    private readonly bot: Bot,
    private readonly run: Run,
  ) {}

  /** The events with which an attempt that takes over ends the call of the dead one. */
  static endOfDeadCall(bot: Bot, run: Run, call: ShownCall, end: CallEnd): BotStreamEvent[] {
    const events = new TurnEvents(bot, run);
    events.revision = 0;
    return [...events.ended(call, end).events];
  }

  /** The assistant calls for tools: the text so far leaves the live bubble. */
  step(iterationIdx: number, content: string, calls: readonly ToolCall[]): BotStreamEvent[] {
    const tool_calls = shownToolCalls(calls);
    return this.chat({
      state: 'iteration_step',
      iterationIdx,
      role: 'assistant',
      content,
      tool_calls,
    });
  }

  begun(call: ShownCall): CallTold {
    const { id: toolCallId, name, argumentsJson } = call;
    const { sessionKey } = this.run;
    const args = objectOf(argumentsJson);
    const progress = this.progress(call, { state: 'running' });
    const start = this.event('tool.start', { toolCallId, name, args, sessionKey });
    return this.told(progress, start);
  }

  ended(call: ShownCall, { state, text, at }: CallEnd): CallTold {
    const { id: toolCallId, name, iterationIdx, startedAt } = call;
    const complete = {
      toolCallId,
      name,
      success: state === 'completed',
      durationMs: Math.max(0, at - startedAt),
      preview: cut(text, MOST_PREVIEW),
      sessionKey: this.run.sessionKey,
    };
    const result = cut(text, MOST_RESULT);
    const resultTruncated = text.length > MOST_RESULT;
    const progress = this.progress(call, { state, completedAt: at, result, resultTruncated });
    const step = { iterationIdx, role: 'tool', content: text, tool_call_id: toolCallId, name };
    const told = this.told(progress, [
      ...this.event('tool.complete', complete),
      ...this.chat({ state: 'iteration_step', ...step }),
    ]);
    return { ...told, endsStep: true };
  }

  private told(progress: ChatToolProgress, events: BotStreamEvent[]): CallTold {
    const shown = this.event('chat', progress);
    return { events: [...shown, ...events], ...(shown.length > 0 && { progress }) };
  }

  private progress(
    { id, index, name, argumentsJson, iterationIdx, startedAt }: ShownCall,
    moved: Pick<ChatToolProgress['call'], 'state'> & Partial<ChatToolProgress['call']>,
  ): ChatToolProgress {
    const { runId, sessionKey } = this.run;
    return {
      state: 'tool_progress',
      runId,
      sessionKey,
      iterationIdx,
      revision: this.run.epoch * REVISIONS_OF_ATTEMPT + this.revision++,
      call: {
        id,
        index,
        name: cut(name, MOST_NAME),
        arguments: cut(argumentsJson, MOST_RESULT),
        argumentsTruncated: argumentsJson.length > MOST_RESULT,
        startedAt,
        ...moved,
      },
    };
  }

  private chat(data: Record<string, unknown>): BotStreamEvent[] {
    const { runId, sessionKey } = this.run;
    return this.event('chat', { ...data, runId, sessionKey });
  }

  private event(type: BotStreamEvent['type'], data: Record<string, unknown>): BotStreamEvent[] {
    const { sessionKey } = this.run;
    if (isInternalSession(sessionKey)) return [];
    const { name: bot, botId } = this.bot;
    return [{ kind: 'bot', bot, botId, sessionKey, type, data }];
  }
}

/** At most so many UTF-16 units, without half a character at the end. */
function cut(text: string, most: number): string {
  return text.slice(0, most).toWellFormed();
}

function objectOf(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {}; // the tool says what is wrong with it
  }
}
