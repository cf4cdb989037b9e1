import { ContractError, DEFAULT_BOT, hostMethods, parseParams } from '@flowly/contract';
import {
  AFTER_NOTHING,
  type Answer,
  type CommandHandler,
  type ReceivedCommand,
} from '@flowly/delivery';
import { describeBot, noSuchBot, type OpenBot } from '@flowly/directory';
import { decideDeletion, isStopped, type Deletion } from '@flowly/store';
import { carryOn, emptyTheTrash } from '../deletion/deletion';
import { deletionOf, openBot, openBotIfThere, type Runner } from '../runner';
import { answeredBefore } from './answered-before';

/** `delete.prepare`: a confirmation that deletes this very bot, for a minute (bots.md §2). */
export function prepareDeletion(runner: Runner): CommandHandler {
  return async (command) => {
    const { name } = parseParams(hostMethods['bots.delete.prepare'].params, command.params);
    refuseDefault(name);
    const bot = await openBot(runner, name);
    const issued = await runner.bus.confirmations.issue(bot.botId);
    return {
      result: { ...issued, profile: describeBot(bot, isStopped(bot.database)) },
      after: AFTER_NOTHING,
    };
  };
}

/**
 * `delete.commit`: the mark in the bot's database is the decision; whatever comes after it is carried on by any runner
 * until the bot is gone, and then answered (bots.md §2).
 */
export function commitDeletion(runner: Runner): CommandHandler {
  return async (command) => {
    const { name, confirmation } = parseParams(
      hostMethods['bots.delete.commit'].params,
      command.params,
    );
    if (await answeredBefore(runner.host, command)) return 'follows from the commit';
    const confirmed = await runner.bus.confirmations.take(confirmation, command.id);
    refuseDefault(name);
    const bot = await openBotIfThere(runner, name);
    if (bot === null) return answerOfGone(runner, command, name);
    const begun = deletionOf(bot);
    // Delivered before: it goes on by itself.
    if (begun?.command === command.id) return 'follows from the commit';
    if (begun) throw noSuchBot(name);
    if (confirmed !== bot.botId) {
      throw new ContractError(
        'DELETE_CONFIRMATION_INVALID',
        'This confirmation is not valid any more, or is for another bot. Prepare the deletion again.',
      );
    }
    await carryOn(runner, bot, await decide(bot, command));
    return 'follows from the commit';
  };
}

function refuseDefault(name: string): void {
  if (name !== DEFAULT_BOT) return;
  throw new ContractError('DEFAULT_PROFILE', 'The default bot cannot be deleted.');
}

/** This call may have deleted it; its folder was moved a moment ago by a process that died then, at the worst. */
async function answerOfGone(
  runner: Runner,
  command: ReceivedCommand,
  name: string,
): Promise<Answer> {
  await emptyTheTrash(runner);
  if (await answeredBefore(runner.host, command)) return 'follows from the commit';
  throw noSuchBot(name);
}

async function decide(bot: OpenBot, { id, gateway }: ReceivedCommand): Promise<Deletion> {
  const deletion = { command: id, gateway, at: Date.now() };
  const decision = await bot.database.write(() => decideDeletion(bot.database, deletion));
  if (decision === 'gone') throw noSuchBot(bot.name);
  if (decision === 'busy') {
    throw new ContractError(
      'PROFILE_BUSY',
      'The bot is working. Delete it when its turn has ended.',
    );
  }
  return deletion;
}
