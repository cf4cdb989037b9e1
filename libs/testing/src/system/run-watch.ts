import type { BotEvent, EventFrame } from '@flowly/contract';

/** What one socket has been told of a run. */
interface WatchedRun {
  /** The live bubble: text since the assistant's last step. */
  text: string;
  revision: number;
  runningCalls: Set<string>;
  isOver: boolean;
}

type ChatEvent = Extract<BotEvent, { type: 'chat' }>['data'];

/**
 * Holds what one socket is told of runs against the invariants of wire.md §5.1: one terminal a run and nothing of it
 * afterwards, every tool that starts ends before it, revisions grow, and the pieces are the end of the final text.
 */
export class RunWatch {
  private readonly runs = new Map<string, WatchedRun>();
  private readonly openTools = new Map<string, Set<string>>();

  /** @returns how the event breaks an invariant */
  take(frame: EventFrame): string | null {
    const said = botEventOf(frame);
    if (said === null) return null;
    const { conversations, event } = said;
    switch (event.type) {
      case 'agent':
        return this.piece(`${conversations} run ${event.data.runId}`, event.data.data.text);
      case 'chat':
        return this.chat(conversations, event.data);
      case 'tool.start':
        this.toolsOf(conversations, event.data.sessionKey).add(event.data.toolCallId);
        return null;
      case 'tool.complete':
        this.toolsOf(conversations, event.data.sessionKey).delete(event.data.toolCallId);
        return null;
      default:
        return null;
    }
  }

  private piece(name: string, text: string): string | null {
    const run = this.run(name);
    if (run.isOver) return `${name}: a piece after its terminal`;
    run.text += text;
    return null;
  }

  private chat(conversations: string, event: ChatEvent): string | null {
    const name = `${conversations} run ${event.runId}`;
    const run = this.run(name);
    if (run.isOver) return `${name}: ${event.state} after its terminal`;
    switch (event.state) {
      case 'iteration_step':
        if (event.role === 'assistant') run.text = '';
        return null;
      case 'tool_progress': {
        const { revision, call } = event;
        const isNewer = revision > run.revision;
        run.revision = revision;
        if (call.state === 'running') run.runningCalls.add(call.id);
        else if (call.state !== 'queued' && call.state !== 'preparing')
          run.runningCalls.delete(call.id);
        return isNewer ? null : `${name}: revision ${revision} is not newer`;
      }
      case 'final':
      case 'error':
        run.isOver = true;
        return this.terminal(name, run, this.toolsOf(conversations, event.sessionKey), event);
      default:
        return null;
    }
  }

  private terminal(
    name: string,
    run: WatchedRun,
    openTools: ReadonlySet<string>,
    event: Extract<ChatEvent, { state: 'final' | 'error' }>,
  ): string | null {
    const open = [...run.runningCalls, ...openTools];
    if (open.length > 0) return `${name}: ended before its tools ${open.join(', ')}`;
    if (event.state === 'error') return null;
    const text = event.message.content.map((block) => block.text).join('');
    return text.endsWith(run.text) ? null : `${name}: its pieces do not end its text`;
  }

  private run(name: string): WatchedRun {
    const known = this.runs.get(name);
    if (known) return known;
    const run = { text: '', revision: -1, runningCalls: new Set<string>(), isOver: false };
    this.runs.set(name, run);
    return run;
  }

  private toolsOf(conversations: string, sessionKey: string): Set<string> {
    const name = `${conversations} session ${sessionKey}`;
    const known = this.openTools.get(name);
    if (known) return known;
    const tools = new Set<string>();
    this.openTools.set(name, tools);
    return tools;
  }
}

/** The event of a bot in a frame, and whose conversations it belongs to: the same run is told straight and wrapped. */
function botEventOf(frame: EventFrame): { conversations: string; event: BotEvent } | null {
  switch (frame.event) {
    case 'profile.event': {
      const { data } = frame;
      return data ? { conversations: `bot ${data.botId}`, event: data } : null;
    }
    case 'agent':
      return frame.data ? straight({ type: frame.event, data: frame.data }) : null;
    case 'chat':
      return frame.data ? straight({ type: frame.event, data: frame.data }) : null;
    case 'tool.start':
      return frame.data ? straight({ type: frame.event, data: frame.data }) : null;
    case 'tool.complete':
      return frame.data ? straight({ type: frame.event, data: frame.data }) : null;
    default:
      return null;
  }
}

function straight(event: BotEvent) {
  return { conversations: 'straight', event };
}
