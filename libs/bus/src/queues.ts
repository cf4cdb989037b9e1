import { Queue } from 'bullmq';
import { z } from 'zod';
import { connectFailFast, connectRedis, type RedisClient } from './connection';
import type { BusKeys } from './keys';
import { Script } from './script';

/**
 * The one table of queues. Commands have their own queues, so that a flood of turns never delays an
 * answer; all jobs are removed when they are done, because the rows in SQLite are the record.
 */
export const queueTable = {
  'bot-commands': { owner: 'bot-runner', holds: 'calls of clients for bots' },
  'bot-turns': { owner: 'bot-runner', holds: 'steps of groups, waiting runs, takeovers' },
  'bot-aborts': {
    owner: 'bot-runner',
    holds: 'ends and removals of sessions that groups order; turns never hold them up',
  },
  'bot-resolves': { owner: 'bot-runner', holds: 'what people decided in groups' },
  'group-commands': { owner: 'group-orchestrator', holds: 'calls of clients for groups' },
  'group-turns': { owner: 'group-orchestrator', holds: 'accepted steps and their ends' },
} as const;

export type QueueName = keyof typeof queueTable;
export const queueNames = Object.keys(queueTable).filter(isQueueName);

export function isQueueName(name: string): name is QueueName {
  return Object.hasOwn(queueTable, name);
}

export interface JobInput {
  id: string;
  data: unknown;
}

/**
 * Takes a job away in one step, unless a worker has or had it; BullMQ's own removal says "removed" also
 * of a job that was done a moment ago. KEYS job, waiting, paused. ARGV id.
 */
const withdrawJob = new Script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 'gone' end
local had = redis.call('HMGET', KEYS[1], 'processedOn', 'ats', 'stc')
if had[1] or had[2] or had[3] then return 'taken' end
if redis.call('LREM', KEYS[2], 1, ARGV[1]) + redis.call('LREM', KEYS[3], 1, ARGV[1]) == 0 then return 'taken' end
redis.call('DEL', KEYS[1])
return 'withdrawn'
`);
const withdrawalSchema = z.enum(['withdrawn', 'taken', 'gone']);
export type Withdrawal = z.infer<typeof withdrawalSchema>;

/** Producers of all queues over one connection. */
export class Queues {
  private readonly redis: RedisClient;
  private readonly queues: ReadonlyMap<QueueName, Queue>;

  constructor(
    redisUrl: string,
    private readonly keys: BusKeys,
    failFast: boolean,
  ) {
    const connection = failFast
      ? connectFailFast(redisUrl, 'queues')
      : connectRedis(redisUrl, 'queues');
    this.redis = connection;
    const open = (name: QueueName) =>
      new Queue(name, {
        connection,
        prefix: keys.prefix,
        defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
        streams: { events: { maxLen: 10 } },
      });
    this.queues = new Map(queueNames.map((name) => [name, open(name)]));
  }

  /** Adds jobs in order; an id that is there already is left as it is. */
  async add(name: QueueName, jobs: JobInput[]): Promise<void> {
    await this.queue(name).addBulk(
      jobs.map(({ id, data }) => ({ name, data, opts: { jobId: id } })),
    );
  }

  /** Whether an `add` has a chance to arrive; while false, a fail-fast one is refused unsent. */
  get connected(): boolean {
    return this.redis.status === 'ready';
  }

  /**
   * Takes a job away that no worker has had.
   * @returns `withdrawn`; `taken` when a worker has it or had it; `gone` when there is no such job
   */
  async withdraw(name: QueueName, id: string): Promise<Withdrawal> {
    const queue = `${this.keys.prefix}:${name}`;
    const names = [`${queue}:${id}`, `${queue}:wait`, `${queue}:paused`];
    return withdrawalSchema.parse(await withdrawJob.run(this.redis, names, [id]));
  }

  async has(name: QueueName, id: string): Promise<boolean> {
    return (await this.queue(name).getJob(id)) !== undefined;
  }

  /** Jobs that wait for a worker, per queue. */
  async depths(): Promise<Map<QueueName, number>> {
    const counts = queueNames.map((name) =>
      this.queue(name).getJobCountByTypes('waiting', 'prioritized', 'delayed'),
    );
    const depths = await Promise.all(counts);
    return new Map(queueNames.map((name, index) => [name, depths[index] ?? 0]));
  }

  /** @param listener gets connection errors, which BullMQ raises as events */
  onError(listener: (error: Error) => void): void {
    this.redis.on('error', listener);
    for (const queue of this.queues.values()) queue.on('error', listener);
  }

  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
    this.redis.disconnect();
  }

  private queue(name: QueueName): Queue {
    const queue = this.queues.get(name);
    if (!queue) throw new Error(`No queue ${name}.`);
    return queue;
  }
}
