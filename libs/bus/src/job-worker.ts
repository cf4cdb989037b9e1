import { defaultLimits, type Limits } from '@flowly/contract';
import { faultPoint } from '@flowly/faults';
import { Worker, type Job } from 'bullmq';
import type { BusKeys } from './keys';
import type { QueueName } from './queues';

/** How long an idle worker sleeps if the wake of a new job went to one that stands still. */
const DRAIN_SECONDS = 1;

export interface WorkerSettings {
  redisUrl: string;
  keys: BusKeys;
  queue: QueueName;
  /** How many jobs are worked on at once. */
  concurrency: number;
  /** Gets the job's data; throwing leaves the matter to whoever repeats the job. */
  process: (data: unknown, job: { id: string }) => Promise<void>;
  onError: (error: Error) => void;
  /** Default: the contract's. */
  limits?: Pick<Limits, 'jobLockMs' | 'jobStalledMs'>;
}

/**
 * Works on the jobs of a queue; takes nothing until `run()` is called.
 *
 * BullMQ looks for as many jobs as it may work on before it begins the first: with room for many, a job that comes
 * alone waits for a second look at the queue. So it is given room for one more than it works on, up to the bound.
 *
 * And once all its room is taken it looks again only when one of its jobs is over, whatever room it is given meanwhile.
 * So when room appears in another way, one of the jobs is let go: for BullMQ it is over, here it is worked on to its end.
 * Should this process die before that, nobody is given the job again: the bound may only be changed of a queue whose
 * jobs are rows that somebody else takes up.
 */
export class JobWorker {
  private readonly worker: Worker;
  private bound: number;
  private working = 0;
  /** The jobs at work that BullMQ waits for, in the order in which they came. */
  private readonly holds = new Set<Hold>();

  constructor(private readonly settings: WorkerSettings) {
    this.bound = settings.concurrency;
    const { jobLockMs, jobStalledMs } = settings.limits ?? defaultLimits;
    this.worker = new Worker(settings.queue, (job) => this.process(job), {
      connection: { url: settings.redisUrl, maxRetriesPerRequest: null },
      prefix: settings.keys.prefix,
      autorun: false,
      concurrency: 1,
      lockDuration: jobLockMs,
      stalledInterval: jobStalledMs,
      drainDelay: DRAIN_SECONDS,
      // A job may stall as often as its worker dies: rows decide whether it still does anything.
      maxStalledCount: 1_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.worker.on('error', settings.onError);
    this.worker.on('failed', (_job, error) => settings.onError(error));
  }

  /** How many jobs are worked on at once; can be changed at any time. */
  get concurrency(): number {
    return this.bound;
  }

  set concurrency(bound: number) {
    const wasFull = this.isFull;
    this.bound = bound;
    this.makeRoom();
    if (wasFull && !this.isFull) this.letOneGo();
  }

  /** Resolves when its connections are up. */
  async ready(): Promise<void> {
    await this.worker.waitUntilReady();
  }

  run(): void {
    this.worker.run().catch(this.settings.onError);
  }

  /** @param force lets go of jobs under way, as a process that dies does */
  close(force = false): Promise<void> {
    return this.worker.close(force);
  }

  private get isFull(): boolean {
    return this.working >= this.bound;
  }

  /** Must make room before its first pause: BullMQ looks for the next job right after it has called this. */
  private async process(job: Job): Promise<void> {
    const hold = new Hold();
    this.holds.add(hold);
    this.working++;
    this.makeRoom();
    await Promise.race([this.work(job, hold), hold.over]);
  }

  private async work(job: Job, hold: Hold): Promise<void> {
    try {
      await this.settings.process(job.data, { id: job.id ?? '' });
      faultPoint('job-done');
    } catch (error) {
      if (this.holds.has(hold)) throw error;
      this.settings.onError(asError(error));
    } finally {
      const wasFull = this.isFull;
      const wasHeld = this.holds.delete(hold);
      this.working--;
      this.makeRoom();
      if (!wasHeld && wasFull && !this.isFull) this.letOneGo();
    }
  }

  private letOneGo(): void {
    const [oldest] = this.holds;
    if (oldest === undefined) return;
    this.holds.delete(oldest);
    this.makeRoom();
    oldest.end();
  }

  private makeRoom(): void {
    const letGo = this.working - this.holds.size;
    const room = Math.min(this.bound - letGo, this.holds.size + 1);
    this.worker.concurrency = Math.max(1, room);
  }
}

/** A job that BullMQ waits for. */
class Hold {
  end: () => void = () => undefined;
  readonly over = new Promise<void>((resolve) => {
    this.end = resolve;
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
