import { z } from 'zod';
import type { LiveCall } from '@flowly/contract';
import type { RedisClient } from './connection';
import type { BusKeys } from './keys';
import { callsOf } from './live-calls';

const answerSchema = z.array(
  z.tuple([z.string(), z.array(z.tuple([z.string(), z.array(z.string())]))]),
);

/** An entry of the event stream as it stands in Redis. */
export interface StreamEntry {
  id: string;
  /** JSON of a `StreamEvent`. */
  event: string;
  /** Readiness hash of the group, for a group's event. */
  readiness: Record<string, string>;
  /** Texts of the active members so far. */
  texts: Record<string, string>;
  /** Newest tool calls of the active members that have any, oldest first. */
  calls: Record<string, LiveCall[]>;
}

export interface ReplyEntry {
  /** Id of the command it answers, also when the body is gone. */
  command: string;
  /** Id of the newest event the caller must have seen before this answer. */
  after: string;
  /** JSON of an `Envelope` that holds a `Reply`. */
  body: string;
}

export interface TailHandlers {
  onEvent(entry: StreamEntry): void;
  onReply(entry: ReplyEntry): void;
  onError(error: unknown): void;
}

const BLOCK_MS = 1_000;
const BATCH = 500;

/**
 * Reads the event stream and one gateway's replies over one connection, so that an answer never
 * overtakes the events it follows from (design rule 2). Reading goes on where it was after a reconnect.
 */
export class StreamTail {
  private running = false;
  private repliesAt = '0-0';
  private eventsAt = '0-0';

  constructor(
    /** A connection of its own: it blocks. */
    private readonly redis: RedisClient,
    private readonly keys: BusKeys,
    private readonly gateway: string,
    private readonly handlers: TailHandlers,
  ) {}

  /** The newest event handed on. */
  get position(): string {
    return this.eventsAt;
  }

  /** Starts behind the newest event there is. */
  async start(): Promise<void> {
    this.eventsAt = await lastGivenId(this.redis, this.keys.events);
    this.running = true;
    void this.loop();
  }

  /** Hands nothing on any more. A read under way is not waited for: while Redis is away it would never end. */
  stop(): void {
    this.running = false;
    this.redis.disconnect();
  }

  private async loop(): Promise<void> {
    while (this.running) {
      try {
        await this.readOnce();
      } catch (error) {
        if (!this.running) return;
        this.handlers.onError(error);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  private async readOnce(): Promise<void> {
    const answer = await this.redis.xread(
      'COUNT',
      BATCH,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      this.keys.events,
      this.keys.replies(this.gateway),
      this.eventsAt,
      this.repliesAt,
    );
    if (answer === null || !this.running) return;
    const streams = new Map(answerSchema.parse(answer));
    for (const [id, fields] of streams.get(this.keys.events) ?? []) {
      this.handlers.onEvent(entryOf(id, fields));
      this.eventsAt = id;
    }
    for (const [id, fields] of streams.get(this.keys.replies(this.gateway)) ?? []) {
      const values = pairs(fields);
      this.repliesAt = id;
      this.handlers.onReply({
        command: values['c'] ?? '',
        after: values['a'] ?? '',
        body: values['r'] ?? '',
      });
    }
  }
}

/** The newest id of a stream, `0-0` when it is empty. */
export async function newestId(redis: RedisClient, stream: string): Promise<string> {
  const newest = z
    .array(z.tuple([z.string(), z.array(z.string())]))
    .parse(await redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1));
  return newest[0]?.[0] ?? '0-0';
}

/** The newest id that a stream has given, also of an entry that is trimmed by now; `0-0` when there is no stream. */
async function lastGivenId(redis: RedisClient, stream: string): Promise<string> {
  if ((await redis.exists(stream)) === 0) return '0-0';
  const facts = z.array(z.unknown()).parse(await redis.call('XINFO', 'STREAM', stream));
  return z.string().parse(facts[facts.indexOf('last-generated-id') + 1]);
}

/** Order of two stream ids: negative, zero or positive. */
export function compareIds(a: string, b: string): number {
  const [aMs = '0', aSeq = '0'] = a.split('-');
  const [bMs = '0', bSeq = '0'] = b.split('-');
  return Number(aMs) - Number(bMs) || Number(aSeq) - Number(bSeq);
}

function entryOf(id: string, fields: string[]): StreamEntry {
  const values = pairs(fields);
  return {
    id,
    event: values['e'] ?? '',
    readiness: flatMap(values['r']),
    texts: flatMap(values['t']),
    calls: callsByMember(flatMap(values['c'])),
  };
}

function callsByMember(lists: Record<string, string>): Record<string, LiveCall[]> {
  const calls: Record<string, LiveCall[]> = Object.create(null);
  for (const [member, list] of Object.entries(lists)) calls[member] = callsOf(list);
  return calls;
}

function flatMap(json: string | undefined): Record<string, string> {
  return json === undefined ? {} : pairs(z.array(z.string()).parse(JSON.parse(json)));
}

function pairs(flat: string[]): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < flat.length; index += 2) {
    values[flat[index] ?? ''] = flat[index + 1] ?? '';
  }
  return values;
}
