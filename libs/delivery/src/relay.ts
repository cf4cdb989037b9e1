import { setTimeout as delay } from 'node:timers/promises';
import type { CommandOutcome } from '@flowly/contract';
import type { EventPublisher, JobInput, LargeValues, Queues, Replies } from '@flowly/bus';
import { oldestOutboxRows, removeOutboxRows, type Database, type OutboxRow } from '@flowly/store';
import { eventRowSchema, jobRowSchema, replyRowSchema } from './outbox';

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

/**
 * Carries one database's outbox out: oldest row first, rows removed when they are out (design rule 1).
 * Any number of processes may relay the same database: the stream drops what came twice, queues and
 * gateways know jobs and replies by their ids.
 */
export class Relay {
  private working: Promise<void> | null = null;
  private again = false;
  private closed = false;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly database: Database,
    private readonly delivery: Delivery,
    private readonly present: PresentOutcome,
    private readonly onError: (error: unknown) => void,
  ) {
    this.unsubscribe = database.onOutbox(() => this.kick());
  }

  /** Starts carrying out what is there, unless that is under way. */
  kick(): void {
    if (this.closed) return;
    if (this.working) {
      this.again = true;
      return;
    }
    this.working = this.work().finally(() => {
      this.working = null;
      if (this.again) this.kick();
    });
  }

  /** Resolves when all that was committed before the call is out. */
  async drain(): Promise<void> {
    if (this.working === null && oldestOutboxRows(this.database, 1).length === 0) return;
    this.kick();
    while (this.working) await this.working;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.unsubscribe();
    await this.working;
  }

  private async work(): Promise<void> {
    do {
      this.again = false;
      try {
        while (!this.closed && (await this.carryBatch()));
      } catch (error) {
        this.onError(error);
        this.again = !this.closed;
        await delay(RETRY_MS);
      }
    } while (this.again && !this.closed);
  }

  /** @returns whether there may be more */
  private async carryBatch(): Promise<boolean> {
    const rows = oldestOutboxRows(this.database, BATCH);
    const last = rows.at(-1);
    if (last === undefined) return false;
    for (const run of runsOfOneTarget(rows)) await this.carry(run);
    await removeOutboxRows(this.database, last.seq);
    return rows.length === BATCH;
  }

  private async carry(rows: OutboxRow[]): Promise<void> {
    const target = rows[0]?.target;
    if (target === 'bot-turns' || target === 'bot-aborts' || target === 'group-turns') {
      await this.delivery.queues.add(target, await Promise.all(rows.map((row) => this.jobOf(row))));
      return;
    }
    for (const row of rows) {
      if (target === 'events') await this.carryEvent(row);
      else await this.carryReply(row);
    }
  }

  private async carryEvent(row: OutboxRow): Promise<void> {
    const { event, effects } = eventRowSchema.parse(JSON.parse(row.body));
    await this.delivery.publisher.publish(this.database.id, row.seq, event, effects);
  }

  private async carryReply(row: OutboxRow): Promise<void> {
    const { command, gateway, outcome } = replyRowSchema.parse(JSON.parse(row.body));
    const answer = { command, outcome: await this.present(outcome) };
    await this.delivery.replies.send(gateway, answer, { database: this.database.id });
  }

  private async jobOf(row: OutboxRow): Promise<JobInput> {
    const { id, job } = jobRowSchema.parse(JSON.parse(row.body));
    return { id, data: await this.delivery.large.pack(job) };
  }
}

/** Neighbouring rows of one target, so that jobs go in one call. */
function runsOfOneTarget(rows: OutboxRow[]): OutboxRow[][] {
  const runs: OutboxRow[][] = [];
  for (const row of rows) {
    const current = runs.at(-1);
    if (current?.[0]?.target === row.target) current.push(row);
    else runs.push([row]);
  }
  return runs;
}
