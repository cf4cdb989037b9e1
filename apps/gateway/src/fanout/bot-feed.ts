import { z } from 'zod';
import { DEFAULT_BOT, isInternalSession, type BotStreamEvent, type Piece } from '@flowly/contract';
import { liveRunKey } from '@flowly/bus';
import { passedOn, type Frame } from '../frames/frame';
import type { ClientSocket } from '../sockets/client-socket';
import { topic } from '../sockets/subscriptions';
import type { Topics } from '../sockets/topics';
import { PieceTracker } from './piece-tracker';

/** The host's own events of a bot, which belong to no conversation (wire.md §5.2). */
const hostTypes = ['directory', 'connection', 'error', 'needsInput'] as const;
type HostType = (typeof hostTypes)[number];

/** An event with the bot it comes from; by default one of a conversation (wire.md §5.1). */
interface BotEvent<T extends string = 'agent' | Exclude<BotStreamEvent['type'], HostType>> {
  id: string;
  bot: string;
  botId: string;
  type: T;
  data: Record<string, unknown>;
}

/** Chat events that say of which run they are and whether its text is over. */
const chatSchema = z.object({ state: z.string(), runId: z.string(), role: z.string().optional() });

/** What the default bot's own clients hear on every socket, whatever they have bound (wire.md §5.1). */
const FOR_EVERY_SOCKET: ReadonlySet<BotEvent['type']> = new Set<BotEvent['type']>([
  'tool.start',
  'tool.complete',
  'exec.approval.requested',
  'exec.approval.closed',
  'agent.clarify.requested',
  'agent.clarify.closed',
]);

/** Events of bots on their way to the clients (wire.md §5.1, §5.2). */
export class BotFeed {
  private readonly pieces = new PieceTracker();

  constructor(
    private readonly topics: Topics<ClientSocket>,
    private readonly hostId: string,
  ) {}

  event(id: string, { bot, botId, sessionKey, type, data }: BotStreamEvent): void {
    if (isOfHost(type)) return this.ofHost({ id, bot, botId, type, data });
    if (type === 'chat') this.follow(botId, data);
    if (sessionKey !== null) this.toConversation({ id, bot, botId, type, data }, sessionKey);
  }

  /** A piece of an answer in a conversation; those of a group show in the group alone. */
  piece(id: string, piece: Piece): void {
    const text = this.pieces.fresh(liveRunKey(piece), piece.offset, piece.text);
    if (text === '') return;
    const { bot, botId, sessionKey, runId } = piece;
    const data = { runId, sessionKey, stream: 'assistant', data: { text } };
    this.toConversation({ id, bot, botId, type: 'agent', data }, sessionKey, { runId, text });
  }

  reset(): void {
    this.pieces.clear();
  }

  /** An assistant's step moves the text so far out of the live bubble, a terminal ends it (wire.md §5.1). */
  private follow(botId: string, data: Record<string, unknown>): void {
    const { state, runId, role } = chatSchema.parse(data);
    const isStep = state === 'iteration_step' && role === 'assistant';
    if (isStep || state === 'final' || state === 'error')
      this.pieces.restart(liveRunKey({ botId, runId }));
  }

  /** To the directory's subscribers, and what is not of the directory itself also to that bot's. */
  private ofHost(event: BotEvent<HostType>): void {
    const hearing = event.type === 'directory' ? [] : [topic.bot(event.bot)];
    const lane = JSON.stringify(['host', event.bot]);
    this.send([topic.directory, ...hearing], () => ({ ...this.wrapped(event), lane }));
  }

  private toConversation(
    event: BotEvent,
    sessionKey: string,
    piece?: { runId: string; text: string },
  ): void {
    if (isInternalSession(sessionKey)) return;
    const inLane = (heard: string, lane: string, make: (event: BotEvent) => Frame): void => {
      const whole = () => (piece ? joinable(event, lane, piece, make) : { ...make(event), lane });
      this.send([heard], whole, (socket, frame) => socket.hold.pass(lane, event.id, frame));
    };
    const conversation = topic.conversation(event.bot, sessionKey);
    inLane(conversation, conversation, (said) => this.wrapped(said));
    if (event.bot !== DEFAULT_BOT) return;
    const own = topic.straight(sessionKey);
    inLane(FOR_EVERY_SOCKET.has(event.type) ? topic.everyone : own, own, straight);
  }

  /** Each socket once, whatever it has subscribed to. Makes the frame only when somebody hears it. */
  private send(
    names: readonly string[],
    make: () => Frame,
    pass: (socket: ClientSocket, frame: Frame) => void = (socket, frame) => socket.send(frame),
  ): void {
    const sockets = new Set(names.flatMap((name) => [...this.topics.of(name)]));
    if (sockets.size === 0) return;
    const frame = make();
    for (const socket of sockets) pass(socket, frame);
  }

  private wrapped({ id, bot, botId, type, data }: BotEvent | BotEvent<HostType>): Frame {
    return passedOn('profile.event', { hostId: this.hostId, profile: bot, botId, type, data }, id);
  }
}

function isOfHost(type: BotStreamEvent['type']): type is HostType {
  return hostTypes.some((each) => each === type);
}

function straight({ id, type, data }: BotEvent): Frame {
  return passedOn(type, data, id);
}

/** A frame that a slow reader's queue can join with the next piece of its run. */
function joinable(
  event: BotEvent,
  lane: string,
  { runId, text }: { runId: string; text: string },
  make: (event: BotEvent) => Frame,
): Frame {
  const withText = (joined: string) =>
    joinable(
      { ...event, data: { ...event.data, data: { text: joined } } },
      lane,
      { runId, text: joined },
      make,
    );
  return { ...make(event), lane, piece: { run: runId, text, withText } };
}
