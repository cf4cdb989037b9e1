import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { JobWorker, type QueueName, type RedisClient } from '@flowly/bus';
import { commandsOf } from '@flowly/contract';
import { CommandServer, eachByItself } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import { HeartbeatWriter, Periodic, type ServiceConfig } from '@flowly/service';
import { forgetAborts, forgetOutcomes, forgetRequests } from '@flowly/store';
import { botHandlers } from './commands/handlers';
import { sweepChatFiles } from './files/sweep';
import type { Runner } from './runner';
import { processOrder } from './turns/process-order';
import { processResolve } from './turns/process-resolve';
import { processTurn } from './turns/process-turn';
import { reconcileBots } from './turns/reconciler';
import { listenForWakes } from './turns/wake-turn';

export const SERVICE = 'bot-runner';
export const SERVICE_CONFIG = Symbol('service config');
export const RUNNER = Symbol('runner');
export const SEAL_PUBLIC_KEY = Symbol('seal public key');

const COMMANDS_AT_ONCE = 64;
const ABORTS_AT_ONCE = 16;
const RESOLVES_AT_ONCE = 16;
const FORGET_EVERY_MS = 60_000;
/** Part of the shutdown's time in which turns may still end by themselves. */
const ENDING_SHARE = 0.5;

/** Starts the workers when everything is ready, ends them before what they use (design rule 8). */
@Injectable()
export class RunnerLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly commands: CommandServer;
  private readonly workers: Map<QueueName, JobWorker>;
  private readonly periodics: Periodic[];
  private readonly heartbeat: HeartbeatWriter;
  private wakes: RedisClient | null = null;
  private swept: Promise<void> = Promise.resolve();

  constructor(
    @Inject(SERVICE_CONFIG) private readonly config: ServiceConfig,
    @Inject(SEAL_PUBLIC_KEY) private readonly sealPublicKey: string,
    @Inject(RUNNER) private readonly runner: Runner,
  ) {
    const { bus, limits, turns } = runner;
    this.commands = new CommandServer(
      botHandlers(runner),
      commandsOf(SERVICE),
      bus.large,
      bus.replies,
      (error, command) => runner.log.error({ err: error, command }, 'command'),
    );
    this.workers = new Map([
      this.worker('bot-commands', COMMANDS_AT_ONCE, (data) => this.commands.process(data)),
      this.worker('bot-turns', config.runnerConcurrency, (data) => processTurn(runner, data)),
      this.worker('bot-aborts', ABORTS_AT_ONCE, (data) => processOrder(runner, data)),
      this.worker('bot-resolves', RESOLVES_AT_ONCE, (data) => processResolve(runner, data)),
    ]);
    this.periodics = [
      this.periodic('claims', Math.min(limits.renewMs, 1_000), () => turns.renew()),
      this.periodic('reconciler', limits.reconcileMs, () => reconcileBots(runner)),
      this.periodic('outcomes', FORGET_EVERY_MS, () => this.forget()),
      this.periodic('titles', limits.titleMs, () => this.makeOverdueTitles()),
      this.periodic('seal key', limits.heartbeatMs, () => this.publishSealKey()),
    ];
    this.heartbeat = new HeartbeatWriter(
      bus.redis,
      bus.keys,
      SERVICE,
      limits,
      () => ({ commands: this.commands.active, turns: turns.count }),
      (error) => runner.log.error({ err: error }, 'heartbeat'),
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    const workers = [...this.workers.values()];
    await Promise.all(workers.map((worker) => worker.ready()));
    this.wakes = await listenForWakes(this.runner, this.config.redisUrl);
    const turns = this.workers.get('bot-turns');
    if (turns) this.runner.slots.share(turns);
    for (const periodic of this.periodics) periodic.start();
    for (const worker of workers) worker.run();
    this.heartbeat.start();
    this.swept = this.sweep();
    this.runner.log.info('bot-runner is ready');
  }

  async onApplicationShutdown(): Promise<void> {
    const { turns, titles, relays, hostRelay, openBots, bus, host, limits } = this.runner;
    await this.heartbeat.stop();
    const closing = [...this.workers.values()].map((worker) => worker.close());
    await turns.settled(limits.shutdownMs * ENDING_SHARE);
    await turns.handOver();
    await Promise.all([...closing, titles.close()]);
    await Promise.all([...this.periodics.map((periodic) => periodic.stop()), this.swept]);
    await Promise.all([relays.close(), hostRelay.drain()]);
    await hostRelay.close();
    this.wakes?.disconnect();
    await bus.close();
    await openBots.close();
    host.close();
  }

  private worker(
    queue: QueueName,
    concurrency: number,
    process: (data: unknown) => Promise<void>,
  ): [QueueName, JobWorker] {
    const { bus, log } = this.runner;
    const onError = (error: unknown) => log.error({ err: error }, queue);
    const { redisUrl, limits } = this.config;
    const settings = { redisUrl, keys: bus.keys, queue, concurrency, process, onError, limits };
    return [queue, new JobWorker(settings)];
  }

  private periodic(what: string, everyMs: number, work: () => Promise<void>): Periodic {
    return new Periodic(everyMs, work, (error) => this.runner.log.error({ err: error }, what));
  }

  /** Redis may have lost it, so it is published again and again. */
  private async publishSealKey(): Promise<void> {
    await this.runner.bus.redis.set(this.runner.bus.keys.sealKey, this.sealPublicKey);
  }

  /** What earlier processes left in the bots' media; nobody waits for it. */
  private async sweep(): Promise<void> {
    try {
      await eachByItself(await this.allBots(), sweepChatFiles);
    } catch (error) {
      this.runner.log.error({ err: error }, 'sweep');
    }
  }

  private async makeOverdueTitles(): Promise<void> {
    await this.runner.titles.makeOverdue(await this.allBots());
  }

  private allBots(): Promise<OpenBot[]> {
    return this.runner.openBots.openAll((name, error) =>
      this.runner.log.error({ err: error, bot: name }, 'a bot cannot be opened'),
    );
  }

  private async forget(): Promise<void> {
    const before = Date.now() - this.runner.limits.outcomeMs;
    await forgetOutcomes(this.runner.host, before);
    const bots = await this.allBots();
    await eachByItself(bots, async ({ database }) => {
      await forgetOutcomes(database, before);
      await forgetAborts(database, before);
      await forgetRequests(database, before);
    });
  }
}
