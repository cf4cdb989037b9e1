import type { LiveRecords } from '@flowly/bus';
import { isInternalSession } from '@flowly/contract';
import { addEvent } from '@flowly/delivery';
import { isClaimed, removeRunSteps, unansweredCall, type Run } from '@flowly/store';
import type { Bot } from './bot';
import { endDriven } from './end-turn';
import { liveRun } from './live-run';
import { cancelRequests } from './requests';
import { chatStreamEvent, emptyTerminal } from './terminal';
import { TurnEvents } from './turn-events';

/** Ends a run that cannot go on, without asking a model: what a dead attempt had begun is over. */
export async function interruptTurn(bot: Bot, run: Run): Promise<void> {
  await bot.database.write(() => {
    if (!isClaimed(bot.database, run)) return;
    endDeadCall(bot, run);
    endDriven(bot, run, {
      ...emptyTerminal(run, Date.now()),
      state: 'error',
      errorCode: 'RUN_INTERRUPTED',
      errorMessage: 'The answer was interrupted by a restart. Send the message again.',
    });
  });
}

/**
 * Makes a taken-up run start anew: from its user's message, with an empty record; what the dead attempt had open is
 * closed, and clients that had text of its answer are told that it is over (bots.md §3.3).
 * @returns false when a newer attempt has the run: then nothing of it was changed
 */
export async function resetForTakeover(bot: Bot, run: Run, live: LiveRecords): Promise<boolean> {
  const record = liveRun(bot, run);
  await live.take(record);
  // Who dies before it was told leaves it to the next attempt; told twice it changes nothing.
  const text = await live.leftText(record);
  const isOurs = await bot.database.write(() => {
    if (!isClaimed(bot.database, run)) return false;
    endDeadCall(bot, run);
    cancelRequests(bot, run, Date.now());
    removeRunSteps(bot.database, run);
    if (text !== '' && !isInternalSession(run.sessionKey)) tellReset(bot, run, text);
    return true;
  });
  if (isOurs && text !== '') await live.forgetLeftText(record);
  return isOurs;
}

function tellReset(bot: Bot, run: Run, content: string): void {
  addEvent(
    bot.database,
    chatStreamEvent(bot, run, {
      state: 'iteration_step',
      runId: run.runId,
      sessionKey: run.sessionKey,
      iterationIdx: 0,
      role: 'assistant',
      content,
      tool_calls: [],
    }),
  );
}

/** The call that a dead attempt was at: every tool that starts ends (wire.md §5.1). */
function endDeadCall(bot: Bot, run: Run): void {
  const call = unansweredCall(bot.database, run);
  if (!call) return;
  const at = Date.now();
  const shown = { ...call, index: 0, iterationIdx: 0, startedAt: at };
  const end = { state: 'stopped', text: 'It was interrupted by a restart.', at } as const;
  for (const event of TurnEvents.endOfDeadCall(bot, run, shown, end)) addEvent(bot.database, event);
}
