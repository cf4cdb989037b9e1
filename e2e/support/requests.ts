import type { Approval, BotEvent, BotMethodName, Clarify, MethodResult } from '@flowly/contract';
import { until, type Client } from '@flowly/testing';
import type { Way } from './conversation';

/** The approvals and questions of a bot as one client sees them, by one of the two ways. */
export class Requests {
  constructor(
    readonly client: Client,
    private readonly way: Way,
    private readonly bot: string,
  ) {}

  through(client: Client): Requests {
    return new Requests(client, this.way, this.bot);
  }

  call<N extends BotMethodName>(
    method: N,
    params?: Record<string, unknown>,
  ): Promise<MethodResult<N>>;
  call(method: BotMethodName, params: Record<string, unknown> = {}): Promise<object> {
    return this.way === 'straight'
      ? this.client.call(method, params)
      : this.client.rpc(this.bot, method, params);
  }

  /** The open approval of a session. */
  approval(sessionKey: string, timeoutMs = 10_000): Promise<Approval> {
    const list = async () => (await this.call('exec.approval.list')).approvals;
    return until(async () => inSession(await list(), sessionKey), timeoutMs, 'no approval is open');
  }

  /** The open question of a session. */
  question(sessionKey: string, timeoutMs = 10_000): Promise<Clarify> {
    const list = async () => (await this.call('agent.clarify.list')).clarifies;
    return until(async () => inSession(await list(), sessionKey), timeoutMs, 'no question is open');
  }

  decide(id: string, decision: string) {
    return this.call('exec.approval.resolve', { id, decision });
  }

  answer(id: string, answer: string) {
    return this.call('agent.clarify.resolve', { id, answer });
  }

  /** What was told of this bot, as `[type, data]`, in order. */
  get told(): BotEvent[] {
    return this.client.events.flatMap((frame): BotEvent[] => {
      if (this.way === 'rpc') {
        return frame.event === 'profile.event' && frame.data?.profile === this.bot
          ? [frame.data]
          : [];
      }
      switch (frame.event) {
        case 'chat':
          return frame.data ? [{ type: frame.event, data: frame.data }] : [];
        case 'tool.start':
          return frame.data ? [{ type: frame.event, data: frame.data }] : [];
        case 'tool.complete':
          return frame.data ? [{ type: frame.event, data: frame.data }] : [];
        case 'exec.approval.requested':
          return frame.data ? [{ type: frame.event, data: frame.data }] : [];
        case 'exec.approval.closed':
          return frame.data ? [{ type: frame.event, data: frame.data }] : [];
        case 'agent.clarify.requested':
          return frame.data ? [{ type: frame.event, data: frame.data }] : [];
        case 'agent.clarify.closed':
          return frame.data ? [{ type: frame.event, data: frame.data }] : [];
        default:
          return [];
      }
    });
  }

  /** How the requests of a session were closed, in order. */
  closings(sessionKey: string): string[] {
    return this.told.flatMap((event) =>
      (event.type === 'exec.approval.closed' || event.type === 'agent.clarify.closed') &&
      event.data.sessionKey === sessionKey
        ? [event.data.reason]
        : [],
    );
  }

  /** Waits until the requests of a session were closed in this way. */
  async closed(sessionKey: string, reasons: readonly string[]): Promise<void> {
    await until(
      () => this.closings(sessionKey).join() === reasons.join(),
      10_000,
      () => `they were closed by ${this.closings(sessionKey).join() || 'nothing'}`,
    );
  }
}

function inSession<R extends { sessionKey: string }>(
  requests: readonly R[],
  sessionKey: string,
): R | undefined {
  return requests.find((request) => request.sessionKey === sessionKey);
}
