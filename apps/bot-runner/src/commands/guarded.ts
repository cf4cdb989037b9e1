import type { CommandHandler } from '@flowly/delivery';
import { requireIdentity, type Runner } from '../runner';

/**
 * The handlers with the identity guard after the call (bots.md §2.1, step 7): a bot that was replaced while the call ran
 * does not answer for the one that was expected. A change looks again inside its commit, a read before its answer.
 */
export function guarded(
  runner: Runner,
  handlers: ReadonlyMap<string, CommandHandler>,
): Map<string, CommandHandler> {
  return new Map([...handlers].map(([name, handler]) => [name, guardedOne(runner, handler)]));
}

function guardedOne({ directory }: Runner, handler: CommandHandler): CommandHandler {
  return async (command) => {
    if (command.bot?.expectedBotId === undefined) return handler(command);
    const { name } = command.bot;
    const recheck = () => requireIdentity(command, directory.require(name));
    const answer = await handler({ ...command, recheck });
    if (answer !== 'follows from the commit') recheck();
    return answer;
  };
}
