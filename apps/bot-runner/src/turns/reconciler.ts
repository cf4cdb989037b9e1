import { addRunTurn } from '@flowly/agent';
import { eachByItself } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import { runsToTakeUp } from '@flowly/store';
import { carryOnAgain, emptyTheTrash } from '../deletion/deletion';
import { deletionOf, type Runner } from '../runner';

/**
 * Takes up what a dead process left (design rule 1): carries out what bots' outboxes hold and puts a job for every
 * run that nobody drives; what of deletions is not over goes on.
 */
export async function reconcileBots(runner: Runner): Promise<void> {
  const { openBots, relays, hostRelay, log } = runner;
  hostRelay.kick();
  const bots = await openBots.openAll((name, error) =>
    log.error({ err: error, bot: name }, 'a bot cannot be opened'),
  );
  await eachByItself(bots, async (bot) => {
    relays.of(bot.database).kick();
    const deletion = deletionOf(bot);
    await (deletion ? carryOnAgain(runner, bot, deletion) : takeUp(bot));
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
