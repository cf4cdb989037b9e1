import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { ContractError } from '@flowly/contract';
import { openHostStore } from '@flowly/store';
import { createBot } from './create-bot';
import { Directory } from './directory';
import { readProviders } from './provider';

/** Makes bots until it may not: `<home> <prefix>`; every bot it ever sees must be whole. */
async function main(home: string, prefix: string): Promise<void> {
  const host = await openHostStore({ home, busyMs: 20_000 });
  const directory = new Directory(home);
  console.log('ready');
  await once(process.stdin, 'data');
  const made: string[] = [];
  let refused = '';
  while (refused === '') {
    try {
      const params = { name: made.length === 0 ? 'shared' : `${prefix}-${made.length}` };
      await createBot(
        host,
        home,
        params,
        { botId: randomUUID(), at: Date.now(), limit: 15 },
        () => undefined,
      );
      made.push(params.name);
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      if (error.code === 'PROFILE_ALREADY_EXISTS') made.push('taken');
      else refused = error.code;
    }
    for (const bot of directory.list()) readProviders(bot.folder);
  }
  host.close();
  console.log(JSON.stringify({ made, refused, seen: directory.list().length }));
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
