import { setTimeout as delay } from 'node:timers/promises';
import { ContractError, toErrorBody, type CommandOutcome } from '@flowly/contract';
import type { EventPublisher, JobInput, LargeValues, Queues, Replies } from '@flowly/bus';
import { faultPoint } from '@flowly/faults';
import {
  oldestOutboxRows,
  outboxSpan,
  removeOutboxRows,
  setOutboxRowAside,
  type Database,
  type OutboxRow,
} from '@flowly/store';
import type { StoredEvent } from './outbox';
import { isTold, jobsByQueue, readParcel, type Parcel, type QueueOfJobs } from './parcel';

const BATCH = 100;
const RETRY_MS = 200;

/** Where a relay puts things. */
export interface Delivery {
  publisher: EventPublisher;
  replies: Replies;
  queues: Queues;
  large: LargeValues;
}

/** Makes the answer of a stored outcome: the same result, or a snapshot as it is now. */
export type PresentOutcome = (outcome: unknown) => Promise<CommandOutcome>;

export interface RelayOptions {
  /** Begins when the process has gone on with what follows from the commit (a turn that asks its model). */
  yields?: boolean;
  /** Adds to an event what is true when it is told and not stored (what a group's tokens cost). */
  dress?: (event: StoredEvent) => StoredEvent;
}

/**
 * Carries one database's outbox out: oldest row first, rows removed when they are out (design rule 1).
 * Any number of processes may relay the same database: the stream drops what came twice, queues and
 * gateways know jobs and replies by their ids. What cannot go out now is tried until it can; a row that nobody can
 * read is set aside, so that it does not hold up those behind it.
 */
export class Relay {
  private working: Promise<void> | null = null;
  private round: Promise<unknown> = Promise.resolve();
  private again = false;
  private closed = false;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly database: Database,
    private readonly delivery: Delivery,
    private readonly present: PresentOutcome,
    private readonly onError: (error: unknown) => void,
    private readonly options: RelayOptions = {},
  ) {
    this.unsubscribe = database.onOutbox(() => {
      if (options.yields) setImmediate(() => this.kick());
      else this.kick();
    });
  }

  /** Starts carrying out what is there, unless that is under way. */
  kick(): void {
    if (!this.isOpen) return;
    if (this.working) {
      this.again = true;
      return;
    }
    this.working = this.work().finally(() => {
      this.working = null;
      if (this.again) this.kick();
    });
  }

  /**
   * Resolves when all that was committed before the call is out, however much is committed meanwhile; at once when
   * the relay or its database is closed. Never rejects.
   */
  async drain(): Promise<void> {
    try {
      if (!this.isOpen) return;
      const { newest } = outboxSpan(this.database);
      while (newest !== null && this.isOpen && this.holdsUpTo(newest)) {
        this.kick();
        await this.round;
      }
    } catch (error) {
      this.onError(error);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.unsubscribe();
    await this.working;
  }

  /** A database is closed before its relay when its bot was deleted. */
  private get isOpen(): boolean {
    return !this.closed && this.database.isOpen;
  }

  private holdsUpTo(seq: number): boolean {
    const { oldest } = outboxSpan(this.database);
    return oldest !== null && oldest <= seq;
  }

  private async work(): Promise<void> {
    let more = true;
    while (this.isOpen && (more || this.again)) {
      this.again = false;
      const round = this.tryBatch();
      this.round = round;
      more = await round;
    }
  }

  /** @returns whether there may be more */
  private async tryBatch(): Promise<boolean> {
    try {
      return await this.carryBatch();
    } catch (error) {
      this.onError(error);
      await delay(RETRY_MS);
      return true;
    }
  }

  private async carryBatch(): Promise<boolean> {
    const rows = oldestOutboxRows(this.database, BATCH);
    const last = rows.at(-1);
    if (last === undefined) return false;
    faultPoint('relay-begins');
    await this.carry(rows);
    faultPoint('all-out');
    await removeOutboxRows(this.database, last.seq);
    faultPoint('rows-removed');
    return rows.length === BATCH;
  }

  private async readable(rows: readonly OutboxRow[]): Promise<Parcel[]> {
    const parcels: Parcel[] = [];
    for (const row of rows) {
      const parcel = readParcel(row);
      if (parcel) parcels.push(parcel);
      else await this.setAside(row);
    }
    return parcels;
  }

  private async setAside({ seq, target, kind }: OutboxRow): Promise<void> {
    await setOutboxRowAside(this.database, seq);
    const what = `Row ${seq} (${target}, ${kind}) of the outbox of ${this.database.id}`;
    this.onError(new Error(`${what} cannot be read. It was set aside in ext_outbox_aside.`));
  }

  /**
   * Jobs go first, so that work is not held up by what is told of it. Events and answers go one after the other, as they
   * were decided; a later event of this database can never be told before an earlier one, since whoever relays begins
   * with the oldest row.
   */
  private async carry(rows: readonly OutboxRow[]): Promise<void> {
    const jobs = await this.readable(rows.filter(({ target }) => !isTold(target)));
    for (const queue of jobsByQueue(jobs)) await this.carryJobs(queue);
    await this.tell(await this.readable(rows.filter(({ target }) => isTold(target))));
  }

  private async tell(parcels: readonly Parcel[]): Promise<void> {
    for (const parcel of parcels) {
      if (parcel.target === 'events') await this.carryEvent(parcel);
      else if (parcel.target === 'reply') await this.carryReply(parcel);
    }
  }

  private async carryJobs([queue, jobs]: QueueOfJobs): Promise<void> {
    const packed = jobs.map(async ({ body: { id, job } }): Promise<JobInput> => {
      return { id, data: await this.delivery.large.pack(job) };
    });
    await this.delivery.queues.add(queue, await Promise.all(packed));
    faultPoint('jobs-out');
  }

  private async carryEvent({ seq, body }: Extract<Parcel, { target: 'events' }>): Promise<void> {
    const event = this.options.dress?.(body.event) ?? body.event;
    await this.delivery.publisher.publish(this.database.id, seq, event, body.effects);
    faultPoint('event-out');
  }

  private async carryReply({ body }: Extract<Parcel, { target: 'reply' }>): Promise<void> {
    const answer = { command: body.command, outcome: await this.answerOf(body.outcome) };
    await this.delivery.replies.send(body.gateway, answer, { database: this.database.id });
    faultPoint('reply-out');
  }

  /** Whatever hinders the making of an answer is the answer: the outbox must go on. */
  private async answerOf(outcome: unknown): Promise<CommandOutcome> {
    try {
      return await this.present(outcome);
    } catch (error) {
      if (!(error instanceof ContractError)) this.onError(error);
      return { error: toErrorBody(error) };
    }
  }
}
