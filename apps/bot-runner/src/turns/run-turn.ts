import { driveTurn, interruptTurn, resetForTakeover } from '@flowly/agent';
import type { OpenBot } from '@flowly/directory';
import type { Run } from '@flowly/store';
import type { Runner } from '../runner';
import type { Slot } from './turn-slots';

/** Drives a run this process has claimed, until it is over or lost; its slot is others' while it waits. Never throws. */
export async function runTurn(runner: Runner, bot: OpenBot, run: Run, slot: Slot): Promise<void> {
  const { turns, settings, relays, titles, log } = runner;
  const relay = relays.of(bot.database);
  try {
    await turns.start(bot, run, async (signals) => {
      if (run.epoch > 1) {
        if (run.sideEffects) return interruptTurn(bot, run);
        if (!(await resetForTakeover(bot, run, runner.bus.live))) return;
      }
      const hooks = { begin: () => relay.drain(), lend: () => slot.lend() };
      return driveTurn(bot, run, settings, signals, hooks);
    });
    titles.begin(bot, run);
  } catch (error) {
    // The claim is not renewed any more, so the run is taken up again when it lapses.
    log.error({ err: error, bot: bot.name }, 'a turn failed');
  }
}
