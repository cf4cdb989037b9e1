import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Bus,
  connectRedis,
  JobWorker,
  StreamTail,
  type LiveRun,
  type QueueName,
  type ReplyEntry,
} from '@flowly/bus';
import {
  botLeftSchema,
  defaultLimits,
  envelopeSchema,
  groupsStoppedSchema,
  groupStreamEventSchema,
  groupViewSchema,
  replyEntrySchema,
  requestResolveSchema,
  sessionRemovalSchema,
  sessionsAskedSchema,
  stepAbortedSchema,
  stepGivenSchema,
  type GroupStreamEvent,
  type GroupView,
  type Limits,
  type StepEnded,
} from '@flowly/contract';
import { Relay, type ReceivedCommand } from '@flowly/delivery';
import { GroupMedia, openGroupStore, type GroupRecord, type GroupStore } from '@flowly/store';
import { startRedis, until as untilThere, type TestRedis } from '@flowly/testing';
import { z } from 'zod';
import { groupHandlers } from './commands/handlers';
import type { Orchestrator } from './orchestrator';
import { presentOutcome } from './outcomes';
import { OnceAtATime } from './readiness/once-at-a-time';
import { GroupSnapshots } from './views/snapshots';

const GATEWAY = 'gateway-1';
const HOST_ID = 'host-1';
const jobSchema = z.discriminatedUnion('type', [
  stepGivenSchema,
  stepAbortedSchema,
  requestResolveSchema,
]);
const sessionOrderSchema = z.discriminatedUnion('type', [
  sessionRemovalSchema,
  sessionsAskedSchema,
]);
const leaveSchema = z.discriminatedUnion('type', [botLeftSchema, groupsStoppedSchema]);
const roomSchema = z.object({ room: groupViewSchema });

export interface Given {
  group: string;
  run: string;
  /** Step keys by member. */
  steps: Record<string, string>;
}

/** The group service without its workers: a store, a Redis, and everything that leaves it. */
export class GroupWorld {
  readonly events: GroupStreamEvent[] = [];
  readonly replies: ReplyEntry[] = [];
  /** What the runners were given, in order. */
  readonly orders: z.infer<typeof jobSchema>[] = [];
  /** What they were told of private sessions. */
  readonly sessionOrders: z.infer<typeof sessionOrderSchema>[] = [];
  /** What they were told of bots that go. */
  readonly leaves: z.infer<typeof leaveSchema>[] = [];
  /** `name botId` of bots that are being deleted. */
  readonly leaving = new Set<string>();
  /** Commands of stops that are done. */
  readonly stopped = new Set<string>();
  readonly errors: unknown[] = [];
  private readonly ends: (() => unknown)[] = [];

  private constructor(
    readonly server: TestRedis,
    readonly bus: Bus,
    readonly orchestrator: Orchestrator,
    readonly store: GroupStore,
    readonly home: string,
  ) {}

  static async start(limits: Partial<Limits> = {}, memberTimeoutMs = 600_000): Promise<GroupWorld> {
    const server = await startRedis();
    const all = { ...defaultLimits, ...limits };
    const onError = (error: unknown) => world.errors.push(error);
    const bus = new Bus({
      redisUrl: server.url,
      hostId: HOST_ID,
      name: 'test',
      limits: all,
      onError: () => undefined,
    });
    const home = mkdtempSync(join(tmpdir(), 'flowly-groups-'));
    const store = await openGroupStore({ home, busyMs: 5_000 });
    const relay: Relay = new Relay(
      store.database,
      bus,
      (outcome) => presentOutcome(outcome, HOST_ID, snapshots),
      onError,
    );
    const snapshots = new GroupSnapshots(
      store,
      relay,
      bus.live,
      bus.redis,
      bus.keys,
      () => undefined,
    );
    const { live, redis, keys } = bus;
    const names = ['default', 'writer', 'reviewer'];
    const orchestrator: Orchestrator = {
      hostId: HOST_ID,
      store,
      media: new GroupMedia(home),
      relay,
      snapshots,
      preparing: new OnceAtATime(redis, keys),
      ending: new AbortController(),
      live,
      redis,
      keys,
      limits: all,
      memberTimeoutMs,
      bot: (name: string) => (names.includes(name) ? { name, displayName: '' } : null),
      isLeaving: (name, botId) => world.leaving.has(`${name} ${botId}`),
      isStopping: ({ command }) => !world.stopped.has(command.id),
      botFault: (name: string) => (names.includes(name) ? null : 'This bot no longer exists.'),
      botMedia: (name: string) => (names.includes(name) ? join(home, name, 'media') : null),
    };
    const world = new GroupWorld(server, bus, orchestrator, store, home);
    world.ends.push(() => relay.close());
    await world.listen();
    return world;
  }

  /** Executes a command of a client; what it answers at once, if anything. */
  async command(
    name: string,
    params: Record<string, unknown>,
    id: string = randomUUID(),
  ): Promise<unknown> {
    const handler = groupHandlers(this.orchestrator).get(name);
    if (!handler) throw new Error(`No handler ${name}.`);
    const command: ReceivedCommand = {
      id,
      name,
      params,
      deadline: Date.now() + 60_000,
      gateway: GATEWAY,
    };
    const answer = await handler(command);
    return answer === 'follows from the commit' ? undefined : answer.result;
  }

  async get(group: string): Promise<GroupView> {
    return roomSchema.parse(await this.command('groups.get', { roomId: group })).room;
  }

  /** A new group of `default` and `writer` (or others); its id. */
  async create(members = ['default', 'writer']): Promise<string> {
    await this.command('groups.create', { title: 'Council', members });
    const newest = await this.store.read((groups) => groups.listGroups()[0]);
    return newest?.id ?? '';
  }

  /** Posts a message and waits until the steps are with the runners. */
  async send(group: string, content = 'Hello'): Promise<Given> {
    await this.command('groups.send', { roomId: group, content });
    const { run } = await this.record(group);
    if (!run) throw new Error('No run was started.');
    const given = () =>
      this.orders.filter(({ type, runId }) => type === 'step' && runId === run.id);
    await until(() => given().length === Object.keys(run.members).length);
    const steps = given().map(({ bot, stepKey }) => [bot, stepKey]);
    return { group, run: run.id, steps: Object.fromEntries(steps) };
  }

  async record(group: string): Promise<GroupRecord> {
    const found = await this.store.read((groups) => groups.findGroup(group));
    if (!found) throw new Error('There is no such group.');
    return found;
  }

  /** What is stored for the run's next step; null when it is forgotten. */
  runState({ group, run }: Given): Promise<unknown> {
    return this.store.read((groups) => groups.readRunState(group, run));
  }

  /** Contents of all messages, oldest first. */
  async contents(group: string): Promise<string[]> {
    const page = await this.store.read((groups) => groups.historyPage(group, null, 100));
    return page.messages.map(({ content }) => content);
  }

  /** A live text as a member's runner writes it. */
  async write({ group, run, steps }: Given, member: string, text: string): Promise<void> {
    const runId = steps[member] ?? '';
    const live: LiveRun = {
      bot: member,
      botId: `id of ${member}`,
      sessionKey: `desktop:profile-room:${group}`,
      runId,
      epoch: 1,
      group: { groupId: group, runId: run },
    };
    const { text: before } = await this.bus.live.read({ botId: '', runId, groupId: group });
    await this.bus.live.addPiece(live, before.length, text);
  }

  async answers() {
    return Promise.all(
      this.replies.map(async ({ body }) => {
        const entry = replyEntrySchema.parse(JSON.parse(body));
        if ('body' in entry) return entry.body;
        throw new Error('An answer of a test is too large to be looked at.');
      }),
    );
  }

  async stop(): Promise<void> {
    for (const end of this.ends) await end();
    await this.bus.close();
    await this.server.stop();
    this.store.close();
    rmSync(this.home, { recursive: true });
  }

  private async listen(): Promise<void> {
    const connection = connectRedis(this.server.url, 'tail');
    connection.on('error', () => undefined);
    const tail = new StreamTail(connection, this.bus.keys, GATEWAY, {
      onEvent: ({ event }) => {
        const parsed = groupStreamEventSchema.safeParse(JSON.parse(event));
        if (parsed.success) this.events.push(parsed.data);
      },
      onReply: (entry) => this.replies.push(entry),
      onError: () => undefined,
    });
    this.ends.unshift(() => tail.stop());
    await tail.start();
    for (const queue of ['bot-turns', 'bot-aborts', 'bot-resolves'] as const)
      await this.takeOrders(queue);
  }

  private async takeOrders(queue: QueueName): Promise<void> {
    const worker = new JobWorker({
      redisUrl: this.server.url,
      keys: this.bus.keys,
      queue,
      concurrency: 1,
      process: async (data) => {
        const unpacked = await this.bus.large.unpack(envelopeSchema.parse(data));
        const order = sessionOrderSchema.safeParse(unpacked?.body);
        const leave = leaveSchema.safeParse(unpacked?.body);
        if (order.success) this.sessionOrders.push(order.data);
        else if (leave.success) this.leaves.push(leave.data);
        else this.orders.push(jobSchema.parse(unpacked?.body));
      },
      onError: () => undefined,
    });
    this.ends.unshift(() => worker.close(true));
    await worker.ready();
    worker.run();
  }
}

/** The end of a member's step as its runner tells it. */
export function ended(
  { group, run, steps }: Given,
  bot: string,
  changes: Partial<StepEnded> = {},
): StepEnded {
  return {
    type: 'ended',
    stepKey: steps[bot] ?? '',
    groupId: group,
    runId: run,
    bot,
    state: 'final',
    text: `answer of ${bot}`,
    aborted: false,
    toolCalls: [],
    usage: null,
    model: 'm',
    durationMs: 7,
    ...changes,
  };
}

export function accepted({ group, run, steps }: Given, bot: string, at = Date.now()) {
  const stepKey = steps[bot] ?? '';
  return { type: 'accepted' as const, stepKey, groupId: group, runId: run, bot, at };
}

/** Waits until the condition holds; fails after ten seconds. */
export function until(condition: () => boolean | Promise<boolean>): Promise<true> {
  return untilThere(condition, 10_000, 'The condition did not come true');
}
