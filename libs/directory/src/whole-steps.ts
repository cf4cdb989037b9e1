import {
  addToOutbox,
  decideDeletion,
  findOutcome,
  openBotStore,
  readDeletion,
  storeOutcome,
  type Database,
} from '@flowly/store';
import { createBot } from './create-bot';
import { emptyTrash, hideBot, removeBot, type GoneBot } from './delete-bot';
import { Directory } from './directory';

/** For tests: bots are made and deleted by the steps of a runner, without groups. A call is told of once. */

export async function create(
  host: Database,
  home: string,
  name: string,
  call: string,
): Promise<void> {
  await createBot(host, home, { name }, { botId: call, at: 1, limit: 15 }, (bot) =>
    commitOnce(host, call, bot.botId),
  );
}

export async function mark(home: string, name: string, call: string): Promise<void> {
  const bot = new Directory(home).require(name);
  const database = await openBotStore({ ...bot, busyMs: 5_000 });
  await database.write(() => decideDeletion(database, { command: call, gateway: 'g', at: 1 }));
  database.close();
}

/** Carries on what is decided, as a reconciler does. */
export async function finish(host: Database, home: string): Promise<void> {
  const commit = ({ botId, deletion }: GoneBot) => commitOnce(host, deletion.command, botId);
  const directory = new Directory(home);
  for (const bot of [...directory.list(), ...directory.leaving()]) {
    const database = await openBotStore({ ...bot, busyMs: 5_000 });
    const deletion = readDeletion(database);
    if (deletion) {
      await hideBot(host, home, bot, deletion);
      await removeBot(host, home, bot, () => true, commit);
    }
    database.close();
  }
  await emptyTrash(host, home, commit);
}

function commitOnce(host: Database, call: string, botId: string): void {
  if (findOutcome(host, call) !== null) return;
  storeOutcome(host, call, { botId }, 1);
  addToOutbox(host, 'events', 'directory', { botId });
}
