import { commandSchema, defaultLimits, type Command, type CommandOutcome } from '@flowly/contract';
import { Bus, JobWorker, type PublishEffects, type QueueName, type ReplyAfter } from '@flowly/bus';

export interface Served {
  command: Command;
  params: unknown;
}

/** What a service does with a command; null leaves it without an answer. */
export type Handler = (served: Served) => Promise<(CommandOutcome & { after?: ReplyAfter }) | null>;

/** Stands for the two services: real workers of the real queues that answer as a test says. */
export class TestServices {
  readonly bus: Bus;
  readonly served: Served[] = [];
  private readonly workers: JobWorker[] = [];
  private seq = 0;
  private handler: Handler = async ({ command }) => ({ result: { name: command.name } });

  constructor(
    private readonly redisUrl: string,
    hostId: string,
  ) {
    const limits = defaultLimits;
    this.bus = new Bus({ redisUrl, hostId, name: 'services', limits, onError: () => undefined });
  }

  /** Answers from now on in this way. */
  answer(handler: Handler): void {
    this.handler = handler;
  }

  async work(...queues: QueueName[]): Promise<void> {
    for (const queue of queues) {
      const worker = new JobWorker({
        redisUrl: this.redisUrl,
        keys: this.bus.keys,
        queue,
        concurrency: 64,
        process: (data) => this.serve(data),
        onError: () => undefined,
      });
      this.workers.push(worker);
      worker.run();
      await worker.ready();
    }
  }

  /** Ends the workers at once, as if their processes had died. */
  async stopWork(): Promise<void> {
    await Promise.all(this.workers.splice(0).map((worker) => worker.close(true)));
  }

  publish(
    event: Parameters<Bus['publisher']['publish']>[2],
    effects?: PublishEffects,
  ): Promise<string> {
    return this.bus.publisher.publish('test-database', (this.seq += 1), event, effects);
  }

  async reply(
    command: Command,
    outcome: CommandOutcome,
    after: ReplyAfter = 'newest',
  ): Promise<void> {
    await this.bus.replies.send(command.gateway, { command: command.id, outcome }, after);
  }

  async close(): Promise<void> {
    await this.stopWork();
    await this.bus.close();
  }

  private async serve(data: unknown): Promise<void> {
    const command = commandSchema.parse(data);
    const unpacked = await this.bus.large.unpack(command.params);
    const served = { command, params: unpacked?.body };
    this.served.push(served);
    const outcome = await this.handler(served);
    if (outcome === null) return;
    const { after, ...answer } = outcome;
    await this.reply(command, answer, after);
  }
}
