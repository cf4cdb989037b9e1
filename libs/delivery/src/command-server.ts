import {
  commandSchema,
  toErrorBody,
  ContractError,
  type Command,
  type CommandOutcome,
} from '@flowly/contract';
import type { LargeValues, ReplyAfter, Replies } from '@flowly/bus';

/** A command with its params taken out of their envelope. */
export type ReceivedCommand = Omit<Command, 'params'> & {
  params: unknown;
  /** Throws when the answer would no longer be of the one the caller means; asked inside the commit of a change. */
  recheck?: () => void;
};

/** What a handler says: the answer to a read, or that the answer follows from its commit. */
export type Answer =
  | { result: Record<string, unknown>; after: ReplyAfter }
  | 'follows from the commit';

export type CommandHandler = (command: ReceivedCommand) => Promise<Answer>;

/** For reads whose answer no event must come before. */
export const AFTER_NOTHING: ReplyAfter = { event: '0-0' };

/**
 * Takes commands from a queue and answers them. A command delivered late is dropped: its caller has been told
 * that it never ran.
 */
export class CommandServer {
  /** Commands under way, for shutdown and figures. */
  active = 0;

  /** @throws Error that names the commands without a handler, or handlers without a command */
  constructor(
    private readonly handlers: ReadonlyMap<string, CommandHandler>,
    expected: readonly string[],
    private readonly large: LargeValues,
    private readonly replies: Replies,
    private readonly onError: (error: unknown, command: string) => void,
  ) {
    const missing = expected.filter((name) => !handlers.has(name));
    const surplus = [...handlers.keys()].filter((name) => !expected.includes(name));
    if (missing.length > 0) throw new Error(`No handler for: ${missing.join(', ')}.`);
    if (surplus.length > 0) throw new Error(`Handlers of no command: ${surplus.join(', ')}.`);
  }

  /** Executes one job's command. Never throws: what goes wrong is the answer. */
  async process(data: unknown): Promise<void> {
    const command = commandSchema.parse(data);
    if (Date.now() > command.deadline) return;
    this.active++;
    try {
      await this.answer(command, await this.execute(command));
    } finally {
      this.active--;
    }
  }

  private async execute(command: Command): Promise<Answer | CommandOutcome> {
    try {
      const params = await this.large.unpack(command.params);
      if (params === null) throw new ContractError('UNAVAILABLE', 'The call was lost on its way.');
      const handler = this.handlers.get(command.name);
      if (!handler) throw new ContractError('METHOD_NOT_ALLOWED', 'There is no such method.');
      return await handler({ ...command, params: params.body });
    } catch (error) {
      if (!(error instanceof ContractError)) this.onError(error, command.name);
      return { error: toErrorBody(error) };
    }
  }

  private async answer(command: Command, answer: Answer | CommandOutcome): Promise<void> {
    if (answer === 'follows from the commit') return;
    const outcome = 'error' in answer ? answer : { result: answer.result };
    const after = 'after' in answer ? answer.after : AFTER_NOTHING;
    await this.replies.send(command.gateway, { command: command.id, outcome }, after);
  }
}

/** A map of handlers that refuses a second handler for a command. */
export function handlerMap(
  entries: readonly (readonly [string, CommandHandler])[],
): Map<string, CommandHandler> {
  const handlers = new Map<string, CommandHandler>();
  for (const [name, handler] of entries) {
    if (handlers.has(name)) throw new Error(`Two handlers for: ${name}.`);
    handlers.set(name, handler);
  }
  return handlers;
}
