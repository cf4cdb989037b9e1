import { acceptTurn, handOn, hostFields } from '@flowly/agent';
import { deriveUuid } from '@flowly/bus';
import { chatSendParams, DEFAULT_BOT, parseParams } from '@flowly/contract';
import { decideOnce, type CommandHandler, type ReceivedCommand } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import type { NewRun, Run } from '@flowly/store';
import { assertThere, withChatFiles } from '../files/chat-files';
import { openCommandBot, type Runner } from '../runner';
import { runTurn } from '../turns/run-turn';

/**
 * `chat.send` (bots.md §3.3): the receipt is written before the work. A free session's run is claimed by the same
 * commit and starts here; else it waits for the end of the one before it.
 */
export function sendChat(runner: Runner): CommandHandler {
  return async (command) => {
    const { wanted, attachments } = parseSend(runner, command);
    const bot = await openCommandBot(runner, command);
    const { runId } = wanted;
    await withChatFiles(bot, { command, runId, attachments }, (files) =>
      acceptAndStart(runner, bot, command, files.length > 0 ? { ...wanted, files } : wanted),
    );
    return 'follows from the commit';
  };
}

async function acceptAndStart(
  runner: Runner,
  bot: OpenBot,
  command: ReceivedCommand,
  wanted: NewRun,
): Promise<void> {
  const slot = runner.slots.take();
  let run: Run | null = null;
  try {
    run = await accept(runner, bot, command, wanted, slot !== null);
  } finally {
    if (run && slot) void runTurn(runner, bot, run, slot).finally(() => slot.release());
    else slot?.release();
  }
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
      assertThere(bot, wanted.files);
      const accepted = acceptTurn(bot, wanted, hasSlot ? runner.turns.claim() : null);
      claimed = accepted.claimed;
      const addJobs = claimed ? undefined : () => handOn(bot, wanted.sessionKey);
      return { outcome: accepted.receipt, ...(addJobs && { addJobs }) };
    }),
  );
  return claimed;
}

function parseSend({ directory, limits }: Runner, command: ReceivedCommand) {
  const schema = chatSendParams(command.straight ? 'straight' : 'rpc', limits.attachmentBytes);
  const params = parseParams(schema, command.params);
  const bots = directory.list().map(({ name }) => name);
  const wanted: NewRun = {
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
  return { wanted, attachments: params.attachments };
}
