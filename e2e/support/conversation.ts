import type {
  ChatEvent,
  ChatHistoryResult,
  ChatInflightResult,
  ChatSendResult,
} from '@flowly/contract';
import { until, type Client } from '@flowly/testing';

/** The two ways to a bot: straight on the socket (the default bot), or through `profiles.rpc`. */
export type Way = 'straight' | 'rpc';

type Terminal = Extract<ChatEvent, { state: 'final' | 'error' }>;

/** One session of a bot as one client sees it. */
export class Conversation {
  constructor(
    readonly client: Client,
    readonly sessionKey: string,
    private readonly way: Way,
    private readonly bot = 'default',
  ) {}

  /** The same conversation through another window. */
  through(client: Client): Conversation {
    return new Conversation(client, this.sessionKey, this.way, this.bot);
  }

  send(message: string, extra: Record<string, unknown> = {}): Promise<ChatSendResult> {
    const params = { sessionKey: this.sessionKey, message, ...extra };
    return this.way === 'straight'
      ? this.client.call('chat.send', params)
      : this.client.rpc(this.bot, 'chat.send', params);
  }

  history(extra: Record<string, unknown> = {}): Promise<ChatHistoryResult> {
    const params = { sessionKey: this.sessionKey, ...extra };
    return this.way === 'straight'
      ? this.client.call('chat.history', params)
      : this.client.rpc(this.bot, 'chat.history', params);
  }

  inflight(): Promise<ChatInflightResult> {
    const { sessionKey } = this;
    return this.way === 'straight'
      ? this.client.call('chat.inflight', { sessionKey })
      : this.client.rpc(this.bot, 'chat.inflight', { sessionKey });
  }

  abort(runId: string, extra: Record<string, unknown> = {}) {
    const params = { runId, ...extra };
    return this.way === 'straight'
      ? this.client.call('chat.abort', params)
      : this.client.rpc(this.bot, 'chat.abort', params);
  }

  /** Texts of the history with their roles, oldest first. */
  async transcript(): Promise<string[]> {
    const { messages } = await this.history();
    return messages.map(
      ({ role, content }) => `${role}: ${content.map(({ text }) => text).join('')}`,
    );
  }

  /** `chat` events of this session, in order. */
  get chatEvents(): ChatEvent[] {
    return this.client.events.flatMap((frame) => {
      if (this.way === 'straight') return frame.event === 'chat' && frame.data ? [frame.data] : [];
      const own = frame.event === 'profile.event' && frame.data?.profile === this.bot;
      return own && frame.data?.type === 'chat' ? [frame.data.data] : [];
    });
  }

  /** Pieces of a run's text, in order, among the events from `since` on. */
  pieces(runId: string, since = 0): string[] {
    return this.client.events.slice(since).flatMap((frame) => {
      const piece =
        this.way === 'straight'
          ? frame.event === 'agent' && frame.data
          : frame.event === 'profile.event' && frame.data?.type === 'agent' && frame.data.data;
      return piece && piece.runId === runId ? [piece.data.text] : [];
    });
  }

  terminals(runId: string): Terminal[] {
    return this.chatEvents.filter(
      (event): event is Terminal =>
        event.runId === runId && (event.state === 'final' || event.state === 'error'),
    );
  }

  /** The end of a run. */
  terminal(runId: string, timeoutMs = 10_000): Promise<Terminal> {
    return until(
      () => this.terminals(runId)[0],
      timeoutMs,
      () => `no terminal of ${runId}; pieces: ${JSON.stringify(this.pieces(runId).slice(-5))}`,
    );
  }

  /** Waits until the text shown so far is this. */
  async shows(runId: string, text: string): Promise<void> {
    await until(
      () => this.pieces(runId).join('') === text,
      10_000,
      () => `${runId} shows ${JSON.stringify(this.pieces(runId))}`,
    );
  }
}

/** The text of a `final`. */
export function textOf(terminal: Terminal): string {
  if (terminal.state === 'error') throw new Error(`ended in ${terminal.errorMessage}`);
  return terminal.message.content.map(({ text }) => text).join('');
}
