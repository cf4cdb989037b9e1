import { acceptTurn, handOn, hostFields } from '@flowly/agent';
import { deriveUuid } from '@flowly/bus';
import {
  chatSendParamsSchema,
  ContractError,
  DEFAULT_BOT,
  parseParams,
  straightChatSendParamsSchema,
} from '@flowly/contract';
import { decideOnce, type CommandHandler, type ReceivedCommand } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import type { NewRun, Run } from '@flowly/store';
import { openCommandBot, type Runner } from '../runner';
import { runTurn } from '../turns/run-turn';

/**
 * `chat.send` (bots.md §3.3): the receipt is written before the work. A free session's run is claimed by the same
 * commit and starts here; else it waits for the end of the one before it.
 */
export function sendChat(runner: Runner): CommandHandler {
  return async (command) => {
    const wanted = newRun(runner, command);
    const bot = await openCommandBot(runner, command);
    const slot = runner.slots.take();
    let run: Run | null = null;
    try {
      run = await accept(runner, bot, command, wanted, slot !== null);
    } finally {
      if (run && slot) void runTurn(runner, bot, run, slot).finally(() => slot.release());
      else slot?.release();
    }
    return 'follows from the commit';
  };
}

async function accept(
  runner: Runner,
  bot: OpenBot,
  command: ReceivedCommand,
  wanted: NewRun,
  hasSlot: boolean,
): Promise<Run | null> {
  let claimed: Run | null = null;
  await bot.database.write(() =>
    decideOnce(bot.database, command, () => {
      const accepted = acceptTurn(bot, wanted, hasSlot ? runner.turns.claim() : null);
      claimed = accepted.claimed;
      const addJobs = claimed ? undefined : () => handOn(bot, wanted.sessionKey);
      return { outcome: accepted.receipt, ...(addJobs && { addJobs }) };
    }),
  );
  return claimed;
}

function newRun({ directory }: Runner, command: ReceivedCommand): NewRun {
  const schema = command.straight ? straightChatSendParamsSchema : chatSendParamsSchema;
  const params = parseParams(schema, command.params);
  if (params.attachments.length > 0) {
    throw new ContractError('UNAVAILABLE', 'Files in a chat are not built yet.');
  }
  const bots = directory.list().map(({ name }) => name);
  return {
    runId: params.idempotencyKey ?? deriveUuid(command.id, 'run'),
    sessionKey: params.sessionKey,
    origin: 'user',
    fingerprint: command.fingerprint ?? '',
    message: params.message,
    modelOverride: params.modelOverride || null,
    host: hostFields(command.bot?.name ?? DEFAULT_BOT, bots, params.profileMentions ?? []),
    step: null,
    at: Date.now(),
  };
}
