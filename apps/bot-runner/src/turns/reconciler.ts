import { addRunTurn } from '@flowly/agent';
import { runsToTakeUp } from '@flowly/store';
import type { Runner } from '../runner';

/**
 * Takes up what a dead process left (design rule 1): carries out what bots' outboxes hold and puts a job for every
 * run that nobody drives.
 */
export async function reconcileBots(runner: Runner): Promise<void> {
  const { openBots, relays, hostRelay, log } = runner;
  hostRelay.kick();
  const bots = await openBots.openAll((name, error) =>
    log.error({ err: error, bot: name }, 'a bot cannot be opened'),
  );
  for (const bot of bots) {
    relays.of(bot.database).kick();
    if (runsToTakeUp(bot.database, Date.now()).length === 0) continue;
    await bot.database.write(() => {
      for (const run of runsToTakeUp(bot.database, Date.now())) addRunTurn(bot, run);
    });
  }
}
