import {
  isObject,
  type ChatEvent,
  type ChatInflightResult,
  type EventData,
  type EventFrame,
} from '@flowly/contract';
import type { Client } from '@flowly/testing';
import type { Conversation } from './conversation';

/** A window that has asked `chat.inflight` and follows the events after the answer. */
export class Joined {
  private constructor(
    private readonly chat: Conversation,
    readonly result: ChatInflightResult,
    private readonly since: number,
  ) {}

  static async by(chat: Conversation): Promise<Joined> {
    const result = await chat.inflight();
    return new Joined(chat, result, eventsBeforeAnswer(chat.client));
  }

  /** What the window shows of a run now: its live text, its steps, the state of its tools. */
  shows(runId: string) {
    const { inflight } = this.result;
    const joined = inflight?.runId === runId ? inflight : null;
    let text = joined?.text ?? '';
    const steps = (joined?.iterations ?? []).map(stepName);
    const tools = new Map((joined?.toolProgress ?? []).map(({ call }) => [call.id, call.state]));
    for (const event of this.eventsOf(runId)) {
      if ('piece' in event) text += event.piece;
      else if (event.state === 'tool_progress') tools.set(event.call.id, event.call.state);
      else if (event.state === 'iteration_step') {
        steps.push(stepName(event));
        if (event.role === 'assistant') text = '';
      }
    }
    return { text, steps, tools: Object.fromEntries(tools) };
  }

  private eventsOf(runId: string) {
    return this.chat.client.events
      .slice(this.since)
      .flatMap((frame) => saidOf(frame) ?? [])
      .filter((event) => event.runId === runId);
  }
}

type Said = ChatEvent | { runId: string; piece: string };

function saidOf(frame: EventFrame): Said | null {
  if (frame.event === 'chat') return frame.data ?? null;
  if (frame.event === 'agent') return frame.data ? pieceOf(frame.data) : null;
  if (frame.event !== 'profile.event') return null;
  if (frame.data?.type === 'chat') return frame.data.data;
  return frame.data?.type === 'agent' ? pieceOf(frame.data.data) : null;
}

function pieceOf({ runId, data }: EventData<'agent'>): Said {
  return { runId, piece: data.text };
}

function stepName(step: Extract<ChatEvent, { state: 'iteration_step' }>): string {
  const { iterationIdx, role, content, tool_calls = [] } = step;
  return `${iterationIdx} ${role} (${tool_calls.length}): ${content}`;
}

/** How many events came before the newest answer to `chat.inflight`. */
function eventsBeforeAnswer({ frames }: Client): number {
  const answer = frames.findLastIndex(
    (frame) => isObject(frame) && isObject(frame['result']) && 'inflight' in frame['result'],
  );
  return frames.slice(0, answer).filter((frame) => isObject(frame) && frame['type'] === 'event')
    .length;
}
