import { driveTurn, interruptTurn, resetForTakeover } from '@flowly/agent';
import type { OpenBot } from '@flowly/directory';
import type { Run } from '@flowly/store';
import type { Runner } from '../runner';

/** Drives a run this process has claimed, until it is over or lost. Never throws. */
export async function runTurn(runner: Runner, bot: OpenBot, run: Run): Promise<void> {
  const { turns, settings, relays, log } = runner;
  const relay = relays.of(bot.database);
  try {
    await turns.start(bot, run, async (signals) => {
      if (run.epoch > 1) {
        if (run.sideEffects) return interruptTurn(bot, run);
        await resetForTakeover(bot, run, runner.bus.live);
      }
      return driveTurn(bot, run, settings, signals, () => relay.drain());
    });
  } catch (error) {
    // The claim is not renewed any more, so the run is taken up again when it lapses.
    log.error({ err: error, bot: bot.name }, 'a turn failed');
  }
}
