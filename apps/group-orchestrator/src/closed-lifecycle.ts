import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Bus, JobWorker } from '@flowly/bus';
import { commandsOf, type ContractError } from '@flowly/contract';
import { CommandServer, type CommandHandler } from '@flowly/delivery';
import { HeartbeatWriter, type Log, type ServiceConfig } from '@flowly/service';
import { unknownStorage } from './commands/media-storage';
import { COMMANDS_AT_ONCE, SERVICE_CONFIG, SERVICE_LOG } from './lifecycle';

export const HOST_ID = Symbol('host id');
export const REFUSAL = Symbol('why the store is closed');

/** Answers commands alone; what runners tell of steps waits until the store can be opened at a start. */
@Injectable()
export class ClosedLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly worker: JobWorker;
  private readonly heartbeat: HeartbeatWriter;

  constructor(
    @Inject(SERVICE_CONFIG) { redisUrl, limits }: ServiceConfig,
    @Inject(SERVICE_LOG) private readonly log: Log,
    @Inject(HOST_ID) hostId: string,
    @Inject(REFUSAL) private readonly refusal: ContractError,
    @Inject(Bus) private readonly bus: Bus,
  ) {
    const failed = (what: string) => (error: unknown) => log.error({ err: error }, what);
    const names = commandsOf('group-orchestrator');
    const commands = new CommandServer(
      closedHandlers(names, hostId, refusal),
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
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.worker.ready();
    this.worker.run();
    this.heartbeat.start();
    this.log.error({ err: this.refusal }, 'the group store stays closed');
  }

  async onApplicationShutdown(): Promise<void> {
    await this.heartbeat.stop();
    await this.worker.close();
    await this.bus.close();
  }
}

function closedHandlers(
  names: readonly string[],
  hostId: string,
  refusal: ContractError,
): Map<string, CommandHandler> {
  const refuse: CommandHandler = () => Promise.reject(refusal);
  const handlers = new Map(names.map((name) => [name, refuse]));
  return handlers.set('groups.storage', unknownStorage(hostId));
}
