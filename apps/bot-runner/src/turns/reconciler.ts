import { addRunTurn, repeatStops, stopsGivenBefore } from '@flowly/agent';
import { eachByItself } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import { runsToTakeUp } from '@flowly/store';
import { carryOnAgain, emptyTheTrash } from '../deletion/deletion';
import { deletionOf, type Runner } from '../runner';

/** How long an order to the groups is left alone before it is given again, in rounds of the reconciler. */
const REPEAT_ROUNDS = 1.5;

/**
 * Takes up what a dead process left (design rule 1): carries out what bots' outboxes hold, puts a job for every run that
 * nobody drives, and repeats the stops that wait for groups; what of deletions is not over goes on.
 */
export async function reconcileBots(runner: Runner): Promise<void> {
  const { openBots, relays, hostRelay, limits, log } = runner;
  hostRelay.kick();
  const bots = await openBots.openAll((name, error) =>
    log.error({ err: error, bot: name }, 'a bot cannot be opened'),
  );
  await eachByItself(bots, async (bot) => {
    relays.of(bot.database).kick();
    const deletion = deletionOf(bot);
    if (deletion) return carryOnAgain(runner, bot, deletion);
    await takeUp(bot);
    await repeat(bot, limits.reconcileMs * REPEAT_ROUNDS);
  });
  await emptyTheTrash(runner);
}

async function takeUp(bot: OpenBot): Promise<void> {
  const { database } = bot;
  if (runsToTakeUp(database, Date.now()).length === 0) return;
  await database.write(() => {
    for (const run of runsToTakeUp(database, Date.now())) addRunTurn(bot, run);
  });
}

async function repeat(bot: OpenBot, afterMs: number): Promise<void> {
  const now = Date.now();
  if (stopsGivenBefore(bot, now - afterMs).length === 0) return;
  await bot.database.write(() => repeatStops(bot, now - afterMs, now));
}
