import type { Attention, GroupEvent, GroupMessage, GroupView } from '@flowly/contract';
import { Failure, failureOf } from '../failure';
import type { GatewayClient } from '../gateway/gateway-client';
import { askAnswer, askConsent } from '../terminal/ask';
import { Prompts } from '../terminal/prompts';
import type { Terminal } from '../terminal/terminal';
import { MemberLines } from './member-lines';
import { shownConsent, shownQuestion } from './shown-request';

const PAGE = 100;

/** One run of a group as its events tell of it. */
export class FollowedGroup {
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>;
  private end: () => void = () => undefined;
  private giveUp: (failure: unknown) => void = () => undefined;
  private readonly lines = new MemberLines();
  private readonly written = new Set<string>();
  private readonly said = new Map<string, string>();
  private readonly asked = new Set<string>();
  private width = 0;
  private runId: string | null = null;
  private last: GroupView['runState'] = null;
  /** Events may be faster than the answer to the send. */
  private early: GroupEvent[] = [];
  private readonly prompts = new Prompts((error) => {
    const failure = failureOf(error);
    if (failure === null) this.giveUp(error);
    else if (failure.code === 'CANCELLED') this.stop();
    else this.terminal.note(failure.message);
  });

  constructor(
    private readonly client: GatewayClient,
    private readonly terminal: Terminal,
    private readonly roomId: string,
  ) {
    this.ended = new Promise((resolve, reject) => {
      this.end = resolve;
      this.giveUp = reject;
    });
    this.ended.catch(() => undefined); // whoever waits for it comes later
  }

  begin(room: GroupView): void {
    if (this.terminal.json) this.terminal.document({ type: 'accepted', room });
    this.width = Math.max(...room.members.map((member) => member.length));
    this.runId = room.runState?.id ?? '';
    if (!room.running) this.end(); // nobody was called
    for (const event of this.early) this.take(event);
    this.early = [];
  }

  take(event: GroupEvent): void {
    if (event.roomId !== this.roomId) return;
    if (this.runId === null) return void this.early.push(event);
    if (this.terminal.json) this.terminal.document(event);
    const { room, patch, appended = [] } = event;
    for (const message of appended) this.writeMessage(message);
    for (const [member, text] of Object.entries((patch ?? room)?.streams ?? {})) {
      // What a member has said may still stand there.
      if (!this.said.get(member)?.startsWith(text))
        this.write(member, this.lines.grow(member, text));
    }
    if (event.type === 'error' && event.profile) this.tellError(event.profile, event.error);
    const attentions = (patch ?? room)?.attentions;
    if (attentions) this.prompts.closeWhere((open) => attentions.every(({ id }) => id !== open));
    for (const attention of attentions ?? []) this.takeAttention(attention);
    if (event.type === 'deleted')
      this.giveUp(new Failure('ROOM_NOT_FOUND', 'The group was deleted.'));
    if (room?.runState?.id !== this.runId) return;
    this.last = room.runState;
    if (!room.running) this.end();
  }

  /**
   * The answers that no event brought, then how it ended.
   * @param from messages the group had when the message was taken
   * @throws Failure when not every member answered
   */
  async finish(from: number): Promise<void> {
    const { messages } = await this.client.call('groups.history', {
      roomId: this.roomId,
      limit: PAGE,
    });
    if (!this.terminal.json) {
      for (const message of messages) if (message.seq >= from) this.writeMessage(message);
    }
    const state = this.last?.state ?? 'completed';
    if (state === 'completed') return;
    const failed = Object.entries(this.last?.members ?? {}).filter(
      ([, { state: its }]) => its === 'failed',
    );
    if (state === 'aborted') throw new Failure('CANCELLED', 'The group was stopped.');
    throw new Failure(
      'ROOM_MEMBER_FAILED',
      failed.length === 0
        ? 'Not every member answered.'
        : failed.map(([member, { error }]) => `${member}: ${error}`).join(' '),
    );
  }

  stop(): void {
    this.client.call('groups.stop', { roomId: this.roomId }).catch(this.giveUp);
  }

  /** Nobody waits for an answer any more. */
  leave(): void {
    this.prompts.closeWhere(() => true);
  }

  private writeMessage({ id, role, profile, content }: GroupMessage): void {
    if (role !== 'assistant' || this.written.has(id)) return;
    this.written.add(id);
    const member = profile ?? 'a bot';
    this.said.set(member, content);
    this.write(member, [...this.lines.grow(member, content), ...this.lines.end(member)]);
  }

  private write(member: string, lines: readonly string[]): void {
    if (this.terminal.json) return;
    for (const line of lines) this.terminal.line(`${member.padEnd(this.width)} │ ${line}`);
  }

  private tellError(member: string, error: string | undefined): void {
    this.write(member, this.lines.end(member));
    this.terminal.note(`${member} failed: ${error ?? 'it did not say why'}`);
  }

  private takeAttention(attention: Attention): void {
    if (this.asked.has(attention.id)) return;
    this.asked.add(attention.id);
    if (!this.terminal.isInteractive) {
      this.terminal.note(`${attention.profile} waits for you.`);
      return;
    }
    this.prompts.add(attention.id, (signal) => this.askFor(attention, signal));
  }

  private async askFor(
    { kind, profile, id, request }: Attention,
    signal: AbortSignal,
  ): Promise<void> {
    const { roomId } = this;
    if (kind === 'approval') {
      const decision = await askConsent(profile, shownConsent(request), signal);
      await this.client.call('groups.approval.resolve', { roomId, id, decision });
    } else {
      const answer = await askAnswer(profile, shownQuestion(request), signal);
      await this.client.call('groups.clarify.resolve', { roomId, id, answer });
    }
  }
}
