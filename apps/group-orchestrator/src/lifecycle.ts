import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Bus, JobWorker, type QueueName } from '@flowly/bus';
import { commandsOf, type Limits } from '@flowly/contract';
import { CommandServer } from '@flowly/delivery';
import { HeartbeatWriter, Periodic, type Log, type ServiceConfig } from '@flowly/service';
import { forgetCreates, forgetOutcomes, reclaimSpace } from '@flowly/store';
import { groupHandlers } from './commands/handlers';
import { sweepFiles } from './files/sweep';
import type { Orchestrator } from './orchestrator';
import { askForSessions } from './sessions/left-sessions';
import { processTurn } from './turns/process-turn';
import { reconcileGroups } from './turns/reconciler';

export const SERVICE_CONFIG = Symbol('service config');
export const SERVICE_LOG = Symbol('service log');
export const ORCHESTRATOR = Symbol('orchestrator');

/** Groups are decided in short transactions one after the other, so many at once only queue up. */
export const COMMANDS_AT_ONCE = 32;
const TURNS_AT_ONCE = 32;
const FORGET_EVERY_MS = 60_000;

/** Starts the workers when everything is ready, ends them before what they use (design rule 8). */
@Injectable()
export class OrchestratorLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly commands: CommandServer;
  private readonly workers: JobWorker[];
  private readonly reconciler: Periodic;
  private readonly forgetting: Periodic;
  private readonly heartbeat: HeartbeatWriter;

  constructor(
    @Inject(SERVICE_CONFIG) config: ServiceConfig,
    @Inject(SERVICE_LOG) private readonly log: Log,
    @Inject(Bus) private readonly bus: Bus,
    @Inject(ORCHESTRATOR) private readonly orchestrator: Orchestrator,
  ) {
    const { limits } = config;
    const failed = (what: string) => (error: unknown) => this.log.error({ err: error }, what);
    this.commands = new CommandServer(
      groupHandlers(orchestrator),
      commandsOf('group-orchestrator'),
      bus.large,
      bus.replies,
      (error, command) => this.log.error({ err: error, command }, 'command'),
    );
    const worker = (
      queue: QueueName,
      concurrency: number,
      process: (data: unknown) => Promise<void>,
    ) =>
      new JobWorker({
        redisUrl: config.redisUrl,
        keys: bus.keys,
        queue,
        concurrency,
        process,
        onError: failed(queue),
        limits,
      });
    this.workers = [
      worker('group-commands', COMMANDS_AT_ONCE, (data) => this.commands.process(data)),
      worker('group-turns', TURNS_AT_ONCE, (data) => processTurn(orchestrator, bus.large, data)),
    ];
    this.reconciler = new Periodic(
      limits.reconcileMs,
      () => reconcileGroups(orchestrator),
      failed('reconciler'),
    );
    this.forgetting = new Periodic(FORGET_EVERY_MS, () => this.forget(limits), failed('outcomes'));
    this.heartbeat = new HeartbeatWriter(
      bus.redis,
      bus.keys,
      'group-orchestrator',
      limits,
      () => ({ commands: this.commands.active }),
      failed('heartbeat'),
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.ready()));
    // Before anything is told: clients may know of what is undone now.
    await this.bus.publisher.beginAnew(this.orchestrator.store.database.id);
    await this.tidy('space', () => this.reclaim());
    await this.tidy('files', () => this.sweep());
    await this.tidy('sessions', () => askForSessions(this.orchestrator));
    this.reconciler.start();
    this.forgetting.start();
    for (const worker of this.workers) worker.run();
    this.heartbeat.start();
    this.log.info('group-orchestrator is ready');
  }

  async onApplicationShutdown(): Promise<void> {
    this.orchestrator.ending.abort();
    await this.heartbeat.stop();
    await Promise.all(this.workers.map((worker) => worker.close()));
    await Promise.all([this.reconciler.stop(), this.forgetting.stop()]);
    await this.orchestrator.relay.drain();
    await this.orchestrator.relay.close();
    await this.bus.close();
    this.orchestrator.store.close();
  }

  private async forget({ outcomeMs, createKeyMs }: Limits): Promise<void> {
    const { database } = this.orchestrator.store;
    await forgetOutcomes(database, Date.now() - outcomeMs);
    await forgetCreates(database, Date.now() - createKeyMs);
  }

  private async reclaim(): Promise<void> {
    if (await reclaimSpace(this.orchestrator.store.database))
      this.log.info('gave the room of deleted groups back to the disk');
  }

  private async sweep(): Promise<void> {
    const files = await sweepFiles(this.orchestrator);
    if (files > 0) this.log.info({ files }, 'removed files that no message refers to');
  }

  /** What cannot be tidied now stops nothing. */
  private async tidy(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.log.error({ err: error }, what);
    }
  }
}
