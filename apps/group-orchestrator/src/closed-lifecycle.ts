import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Bus, JobWorker } from '@flowly/bus';
import { commandsOf, type ContractError } from '@flowly/contract';
import { CommandServer, type CommandHandler } from '@flowly/delivery';
import { HeartbeatWriter, Periodic, type Log, type ServiceConfig } from '@flowly/service';
import type { ClosedStore, GroupStore } from '@flowly/store';
import { unknownStorage } from './commands/media-storage';
import { COMMANDS_AT_ONCE, SERVICE_CONFIG, SERVICE_LOG } from './lifecycle';

export const HOST_ID = Symbol('host id');
export const CLOSED_STORE = Symbol('closed store');

/** Answers commands alone; what runners tell of steps waits until the store can be opened. */
@Injectable()
export class ClosedLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly worker: JobWorker;
  private readonly heartbeat: HeartbeatWriter;
  private readonly looking: Periodic;
  private hasEnded = false;
  private isOpened = false;
  private tellOpened: (store: GroupStore) => void = () => undefined;
  /** The store, once somebody has mended it; whoever waits for it ends this service and takes its place. */
  readonly opened = new Promise<GroupStore>((resolve) => (this.tellOpened = resolve));

  constructor(
    @Inject(SERVICE_CONFIG) { redisUrl, limits }: ServiceConfig,
    @Inject(SERVICE_LOG) private readonly log: Log,
    @Inject(HOST_ID) hostId: string,
    @Inject(CLOSED_STORE) private readonly store: ClosedStore,
    @Inject(Bus) private readonly bus: Bus,
  ) {
    const failed = (what: string) => (error: unknown) => log.error({ err: error }, what);
    const names = commandsOf('group-orchestrator');
    const commands = new CommandServer(
      closedHandlers(names, hostId, store),
      names,
      bus.large,
      bus.replies,
      failed('command'),
    );
    this.worker = new JobWorker({
      redisUrl,
      keys: bus.keys,
      queue: 'group-commands',
      concurrency: COMMANDS_AT_ONCE,
      process: (data) => commands.process(data),
      onError: failed('group-commands'),
    });
    const figures = () => ({ commands: commands.active });
    this.heartbeat = new HeartbeatWriter(
      bus.redis,
      bus.keys,
      'group-orchestrator',
      limits,
      figures,
      failed('heartbeat'),
      () => ({ code: store.refusal.code, message: store.refusal.message }),
    );
    this.looking = new Periodic(limits.storeLookMs, () => this.look(), failed('group store'));
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.worker.ready();
    this.worker.run();
    this.heartbeat.start();
    this.looking.start();
    this.log.error({ err: this.store.refusal }, 'the group store stays closed');
  }

  async onApplicationShutdown(): Promise<void> {
    this.hasEnded = true;
    await this.looking.stop();
    await this.heartbeat.stop();
    await this.worker.close();
    await this.bus.close();
  }

  private async look(): Promise<void> {
    if (this.isOpened) return;
    const before = this.store.refusal;
    const opened = await this.store.reopen();
    if (opened === null) this.tellChange(before);
    else if (this.hasEnded) opened.close();
    else this.handOver(opened);
  }

  private handOver(opened: GroupStore): void {
    this.isOpened = true;
    this.log.info('the group store can be opened again');
    this.tellOpened(opened);
  }

  private tellChange(before: ContractError): void {
    const { refusal } = this.store;
    if (refusal !== before && refusal.message !== before.message)
      this.log.error({ err: refusal }, 'the group store stays closed');
  }
}

function closedHandlers(
  names: readonly string[],
  hostId: string,
  store: ClosedStore,
): Map<string, CommandHandler> {
  const refuse: CommandHandler = () => Promise.reject(store.refusal);
  const handlers = new Map(names.map((name) => [name, refuse]));
  return handlers.set('groups.storage', unknownStorage(hostId));
}
