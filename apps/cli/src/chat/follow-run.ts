import { randomUUID } from 'node:crypto';
import type { BotEvent, ChatSendResult, EventData } from '@flowly/contract';
import { cancelled, Failure, failureOf } from '../failure';
import type { GatewayClient } from '../gateway/gateway-client';
import { askAnswer, askConsent } from '../terminal/ask';
import { onInterrupt } from '../terminal/interrupt';
import { Prompts } from '../terminal/prompts';
import type { Terminal } from '../terminal/terminal';
import { AnswerPrinter } from './answer-printer';

export interface Turn {
  bot: string;
  sessionKey: string;
  message: string;
}

type Requested = Extract<BotEvent, { type: 'exec.approval.requested' | 'agent.clarify.requested' }>;

/**
 * Sends a message and writes the answer until its run has ended. Ctrl-C aborts the run, which then ends with what it
 * has said; a second one leaves it.
 * @throws Failure the refusal, the error the run ended with, `CANCELLED` when it was stopped, `NO_GATEWAY`
 */
export async function followRun(
  client: GatewayClient,
  terminal: Terminal,
  turn: Turn,
): Promise<void> {
  const runId = randomUUID();
  const run = new FollowedRun(client, terminal, turn, runId);
  const stopListening = client.on('profile.event', (event) => run.take(event));
  const stopInterrupt = onInterrupt(() => run.abort());
  try {
    const { bot, ...params } = turn;
    const receipt = await client.rpc(bot, 'chat.send', { ...params, idempotencyKey: runId });
    run.begin(receipt);
    await Promise.race([run.ended, client.gone.then((lost) => Promise.reject(lost))]);
  } finally {
    stopListening();
    stopInterrupt();
    run.leave();
  }
}

class FollowedRun {
  readonly ended: Promise<void>;
  private end: (failure?: unknown) => void = () => undefined;
  private readonly printer: AnswerPrinter;
  private readonly prompts = new Prompts((error) => {
    // Ctrl-C at a question stops the run, as it does elsewhere.
    const failure = failureOf(error);
    if (failure?.code === 'CANCELLED') this.abort();
    else if (failure) this.terminal.note(failure.message);
    else this.end(error);
  });
  /** Events may be faster than the answer to the send; null when that has come. */
  private early: EventData<'profile.event'>[] | null = [];

  constructor(
    private readonly client: GatewayClient,
    private readonly terminal: Terminal,
    private readonly turn: Turn,
    private readonly runId: string,
  ) {
    this.printer = new AnswerPrinter(terminal);
    this.ended = new Promise((resolve, reject) => {
      this.end = (failure) => (failure ? reject(failure) : resolve());
    });
    // Whoever waits for it comes later.
    this.ended.catch(() => undefined);
  }

  begin(receipt: ChatSendResult): void {
    if (this.terminal.json) this.terminal.document({ type: 'accepted', data: receipt });
    const early = this.early ?? [];
    this.early = null;
    for (const event of early) this.take(event);
  }

  take(event: EventData<'profile.event'>): void {
    if (event.profile !== this.turn.bot) return;
    if (this.early) return void this.early.push(event);
    if (event.type === 'agent' || event.type === 'chat') {
      if (event.data.runId !== this.runId) return;
      this.printer.take(event);
      if (event.type === 'chat') this.takeEnd(event.data);
    }
    if (event.type === 'exec.approval.requested' || event.type === 'agent.clarify.requested') {
      if (event.data.sessionKey === this.turn.sessionKey) this.takeRequest(event);
    }
    if (event.type === 'exec.approval.closed' || event.type === 'agent.clarify.closed') {
      const { id } = event.data;
      this.prompts.closeWhere((open) => open === id);
    }
  }

  abort(): void {
    const { bot, sessionKey } = this.turn;
    this.client
      .rpc(bot, 'chat.abort', { sessionKey, runId: this.runId })
      .catch((error: unknown) => this.end(failureOf(error) ?? cancelled()));
  }

  /** Nobody waits for an answer any more. */
  leave(): void {
    this.prompts.closeWhere(() => true);
  }

  private takeEnd(data: Extract<BotEvent, { type: 'chat' }>['data']): void {
    if (data.state === 'error')
      this.end(new Failure(data.errorCode, data.errorMessage, 1, data.retryable));
    if (data.state !== 'final') return;
    if (data.aborted) this.end(new Failure('CANCELLED', 'The answer was stopped.'));
    else this.end();
  }

  private takeRequest(event: Requested): void {
    this.printer.endLine();
    if (this.terminal.json) this.terminal.document({ type: event.type, data: event.data });
    if (!this.terminal.isInteractive) {
      const what =
        event.type === 'exec.approval.requested' ? event.data.command : event.data.question;
      this.terminal.note(`${this.turn.bot} waits for you: ${what}`);
      return;
    }
    this.prompts.add(event.data.id, (signal) => this.askFor(event, signal));
  }

  private async askFor(event: Requested, signal: AbortSignal): Promise<void> {
    const { bot } = this.turn;
    const { id } = event.data;
    if (event.type === 'exec.approval.requested') {
      const decision = await askConsent(bot, event.data, signal);
      await this.client.rpc(bot, 'exec.approval.resolve', { id, decision });
    } else {
      const answer = await askAnswer(bot, event.data, signal);
      await this.client.rpc(bot, 'agent.clarify.resolve', { id, answer });
    }
  }
}
