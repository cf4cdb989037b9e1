import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connectRedis,
  JobWorker,
  StreamTail,
  type QueueName,
  type ReplyEntry,
  type StreamEntry,
} from '@flowly/bus';
import {
  defaultLimits,
  envelopeSchema,
  orchestratorJobSchema,
  replySchema,
  type Limits,
  type OrchestratorJob,
} from '@flowly/contract';
import type { ReceivedCommand } from '@flowly/delivery';
import { loadSealKey, prepareHome } from '@flowly/directory';
import { createLogger, loadConfig } from '@flowly/service';
import { startRedis, until as untilThere, type TestRedis } from '@flowly/testing';
import { botHandlers } from './commands/handlers';
import type { Runner } from './runner';
import { compose } from './runner.module';
import { processTurn } from './turns/process-turn';

const GATEWAY = 'gateway-1';

/** A data folder and a Redis with any number of runners, and everything that leaves them. */
export class RunnerWorld {
  readonly home = mkdtempSync(join(tmpdir(), 'flowly-runner-'));
  readonly hostId: string;
  readonly sealKey: ReturnType<typeof loadSealKey>;
  readonly events: StreamEntry[] = [];
  readonly replies: ReplyEntry[] = [];
  /** What the orchestrators are told, in order. */
  readonly told: OrchestratorJob[] = [];
  private readonly ends: (() => unknown)[] = [];

  private constructor(
    readonly server: TestRedis,
    private readonly limits: Partial<Limits>,
  ) {
    this.hostId = prepareHome(this.home).hostId;
    this.sealKey = loadSealKey(this.home);
  }

  static async start(limits: Partial<Limits> = {}): Promise<RunnerWorld> {
    return new RunnerWorld(await startRedis(), limits);
  }

  /** A runner as a process has it, without its workers. */
  async runner(concurrency = 4): Promise<Runner> {
    const environment = {
      FLOWLY_HOME: this.home,
      REDIS_URL: this.server.url,
      FLOWLY_RUNNER_CONCURRENCY: String(concurrency),
    };
    const config = { ...loadConfig(environment), limits: { ...defaultLimits, ...this.limits } };
    const log = createLogger('bot-runner', { logLevel: 'silent' });
    const runner = await compose(config, log, this.hostId, this.sealKey.privateKeyPem);
    this.ends.unshift(() => end(runner));
    if (this.ends.length === 1) await this.listen(runner);
    return runner;
  }

  /** Takes the turns that wait in the queue, as that runner's worker does. */
  async takeTurns(runner: Runner): Promise<void> {
    await this.work(runner, 'bot-turns', (data) => processTurn(runner, data));
  }

  async answers() {
    return this.replies.map(({ body }) => {
      const envelope = envelopeSchema.parse(JSON.parse(body));
      return replySchema.parse('body' in envelope ? envelope.body : null);
    });
  }

  async stop(): Promise<void> {
    for (const end of this.ends) await end();
    await this.server.stop();
    rmSync(this.home, { recursive: true });
  }

  private async listen(runner: Runner): Promise<void> {
    const connection = connectRedis(this.server.url, 'tail');
    const tail = new StreamTail(connection, runner.bus.keys, GATEWAY, {
      onEvent: (entry) => this.events.push(entry),
      onReply: (entry) => this.replies.push(entry),
      onError: () => undefined,
    });
    this.ends.unshift(() => tail.stop());
    await tail.start();
    await this.work(runner, 'group-turns', async (data) => {
      const unpacked = await runner.bus.large.unpack(envelopeSchema.parse(data));
      this.told.push(orchestratorJobSchema.parse(unpacked?.body));
    });
  }

  private async work(
    runner: Runner,
    queue: QueueName,
    process: (data: unknown) => Promise<void>,
  ): Promise<void> {
    const worker = new JobWorker({
      redisUrl: this.server.url,
      keys: runner.bus.keys,
      queue,
      concurrency: 4,
      process,
      onError: () => undefined,
    });
    this.ends.unshift(() => worker.close(true));
    await worker.ready();
    worker.run();
  }
}

async function end(runner: Runner): Promise<void> {
  await runner.turns.handOver();
  await runner.turns.settled(2_000);
  await runner.titles.close();
  await Promise.all([runner.relays.close(), runner.hostRelay.close()]);
  await runner.bus.close();
  await runner.openBots.close();
  runner.host.close();
}

export function call(
  runner: Runner,
  name: string,
  params: Record<string, unknown>,
  changes: Partial<ReceivedCommand> = {},
) {
  const handler = botHandlers(runner).get(name);
  if (!handler) throw new Error(`No handler ${name}.`);
  return handler({
    id: randomUUID(),
    name,
    params,
    deadline: Date.now() + 60_000,
    gateway: GATEWAY,
    fingerprint: JSON.stringify(params),
    ...changes,
  });
}

/** Waits until the condition holds; fails after ten seconds. */
export function until(condition: () => boolean | Promise<boolean>): Promise<true> {
  return untilThere(condition, 10_000, 'The condition did not come true');
}
