import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Bus,
  connectRedis,
  JobWorker,
  StreamTail,
  type QueueName,
  type ReplyEntry,
} from '@flowly/bus';
import {
  commandOutcomeSchema,
  defaultLimits,
  envelopeSchema,
  replyEntrySchema,
  streamEventSchema,
  type BotStreamEvent,
  type Limits,
  type StreamEvent,
} from '@flowly/contract';
import { openBotStore, outboxSpan, type Database } from '@flowly/store';
import { startRedis, until as untilThere, type TestRedis } from '@flowly/testing';
import { Relay, type PresentOutcome, type RelayOptions } from './relay';

export const GATEWAY = 'gateway-1';

/** A Redis, a bus and a bot's database of their own, and what comes out at the other end. */
export class DeliveryWorld {
  readonly events: StreamEvent[] = [];
  readonly replies: ReplyEntry[] = [];
  readonly jobs: unknown[] = [];
  readonly errors: unknown[] = [];
  private readonly ends: (() => unknown)[] = [];

  private constructor(
    readonly server: TestRedis,
    readonly bus: Bus,
    private readonly folder: string,
  ) {}

  static async start(limits: Partial<Limits> = {}): Promise<DeliveryWorld> {
    const server = await startRedis();
    const bus = new Bus({
      redisUrl: server.url,
      hostId: 'host-1',
      name: 'test',
      limits: { ...defaultLimits, ...limits },
      onError: () => undefined,
    });
    const world = new DeliveryWorld(server, bus, await mkdtemp(join(tmpdir(), 'flowly-delivery-')));
    await world.listen();
    return world;
  }

  /** A connection of its own to the one database. */
  async open(): Promise<Database> {
    const database = await openBotStore({ folder: this.folder, botId: 'bot-1', busyMs: 5_000 });
    this.ends.unshift(() => database.isOpen && database.close());
    return database;
  }

  relay(
    database: Database,
    present: PresentOutcome = presentStored,
    options: RelayOptions = {},
  ): Relay {
    const onError = (error: unknown) => this.errors.push(error);
    const relay = new Relay(database, this.bus, present, onError, options);
    this.ends.unshift(() => relay.close());
    return relay;
  }

  /** Takes jobs of a queue from now on. */
  async takeJobs(queue: QueueName): Promise<void> {
    const worker = new JobWorker({
      redisUrl: this.server.url,
      keys: this.bus.keys,
      queue,
      concurrency: 1,
      process: async (data) => {
        const unpacked = await this.bus.large.unpack(envelopeSchema.parse(data));
        this.jobs.push(unpacked?.body);
      },
      onError: () => undefined,
    });
    this.ends.unshift(() => worker.close(true));
    await worker.ready();
    worker.run();
  }

  /** The answers so far, out of their envelopes. */
  async answers(): Promise<unknown[]> {
    return Promise.all(
      this.replies.map(async ({ body }) => {
        const entry = replyEntrySchema.parse(JSON.parse(body));
        if ('body' in entry) return entry.body.outcome;
        return { result: JSON.parse((await this.bus.large.text(entry.largeResult)) ?? 'null') };
      }),
    );
  }

  async stop(): Promise<void> {
    for (const end of this.ends) await end();
    await this.bus.close();
    await this.server.stop();
    await rm(this.folder, { recursive: true });
  }

  private async listen(): Promise<void> {
    const connection = connectRedis(this.server.url, 'tail');
    connection.on('error', () => undefined);
    const tail = new StreamTail(connection, this.bus.keys, GATEWAY, {
      onEvent: (entry) => this.events.push(streamEventSchema.parse(JSON.parse(entry.event))),
      onReply: (entry) => this.replies.push(entry),
      onError: () => undefined,
    });
    this.ends.push(() => tail.stop());
    await tail.start();
  }
}

async function presentStored(outcome: unknown) {
  return commandOutcomeSchema.parse({ result: outcome });
}

export function event(n: number): BotStreamEvent {
  return {
    kind: 'bot',
    bot: 'writer',
    botId: 'bot-1',
    sessionKey: null,
    type: 'directory',
    data: { n },
  };
}

export function numbers(events: readonly StreamEvent[]): unknown[] {
  return events.map((entry) => (entry.kind === 'bot' ? entry.data['n'] : null));
}

export function isEmpty(database: Database): boolean {
  return outboxSpan(database).oldest === null;
}

/** Rows that wait in the outbox. */
export function waitingRows(database: Database): number {
  const { oldest, newest } = outboxSpan(database);
  return oldest === null || newest === null ? 0 : newest - oldest + 1;
}

/** Waits until the condition holds; fails after ten seconds. */
export function until(condition: () => boolean | Promise<boolean>): Promise<true> {
  return untilThere(condition, 10_000, 'The condition did not come true');
}
