import { randomUUID } from 'node:crypto';
import {
  ContractError,
  replyEntrySchema,
  type Command,
  type CommandOutcome,
  type Limits,
} from '@flowly/contract';
import type { LargeValues, QueueName, Queues, ReplyEntry } from '@flowly/bus';
import { Delivery } from './delivery';

/** A worker's answer and the event that must come before it. */
export interface Answer {
  /** A large result is the JSON it is told by. */
  outcome: CommandOutcome | { resultJson: string };
  after: string;
}

export interface CommandRequest extends Pick<Command, 'name' | 'bot' | 'straight' | 'fingerprint'> {
  queue: QueueName;
  params: unknown;
  /** Unix ms at which the caller is answered, whatever has happened. */
  deadline: number;
}

const TOO_LARGE = 'The answer is too large; ask for less with `limit` or `includeMessages:false`.';

/** Commands that wait for their answer (design rule 2). */
export class Commands {
  private readonly waiting = new Map<string, (answer: Answer | ContractError) => void>();

  constructor(
    private readonly gateway: string,
    private readonly queues: Queues,
    private readonly large: LargeValues,
    private readonly limits: Pick<Limits, 'readdMs' | 'replyBytes'>,
  ) {}

  /** How many wait for their answer, also where nobody is left to be told. */
  get size(): number {
    return this.waiting.size;
  }

  /**
   * Gives a command to a worker and waits for its answer, at most until the deadline.
   * @throws ContractError `UNAVAILABLE` when no worker had it, `PROFILE_RPC_TIMEOUT` when one may have it,
   * `REQUEST_TOO_LARGE` for an answer over the limit
   */
  async run({ queue, params, ...request }: CommandRequest): Promise<Answer> {
    const command = { ...request, id: randomUUID(), gateway: this.gateway };
    const delivery = new Delivery(
      this.queues,
      queue,
      command.id,
      this.limits.readdMs,
      async () => ({
        ...command,
        params: await this.large.pack(params),
      }),
    );
    const answered = new Promise<Answer | ContractError>((resolve) => {
      this.waiting.set(command.id, resolve);
    });
    try {
      const first = await Promise.race([answered, delivery.until(command.deadline)]);
      const answer = first ?? (await Promise.race([answered, delivery.takeBack()]));
      if (answer instanceof ContractError) throw answer;
      return answer;
    } finally {
      this.waiting.delete(command.id);
      delivery.stop();
    }
  }

  /** Takes an answer off the gateway's stream; one that nobody waits for any more is dropped. */
  async settle(entry: ReplyEntry): Promise<void> {
    const resolve = this.waiting.get(entry.command);
    if (resolve === undefined) return;
    const reply = replyEntrySchema.parse(JSON.parse(entry.body));
    if ('body' in reply) return resolve({ outcome: reply.body.outcome, after: entry.after });
    if ((await this.large.bytes(reply.largeResult)) > this.limits.replyBytes) {
      return resolve(new ContractError('REQUEST_TOO_LARGE', TOO_LARGE));
    }
    const resultJson = await this.large.text(reply.largeResult);
    if (resultJson === null) return; // the command is given again and answered from its stored outcome
    resolve({ outcome: { resultJson }, after: entry.after });
  }
}
