import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { ContractError } from '@flowly/contract';
import { openHostStore } from '@flowly/store';
import { createBot } from './create-bot';
import { Directory } from './directory';
import { finish, mark } from './whole-steps';

const ROUNDS = 15;

/** Makes bots and deletes its oldest whenever there are too many: `<home> <prefix> <limit>`. Says what it saw. */
async function main(home: string, prefix: string, limit: number): Promise<void> {
  const host = await openHostStore({ home, busyMs: 20_000 });
  const directory = new Directory(home);
  console.log('ready');
  await once(process.stdin, 'data');
  const own: string[] = [];
  const seen = { most: 0, doubledSeeds: 0, refused: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const name = `${prefix}-${round}`;
    try {
      const wanted = { botId: randomUUID(), at: 1, limit };
      await createBot(host, home, { name }, wanted, () => undefined);
      own.push(name);
    } catch (error) {
      if (!(error instanceof ContractError) || error.code !== 'PROFILE_LIMIT') throw error;
      seen.refused++;
      const oldest = own.shift();
      if (oldest !== undefined) {
        await mark(home, oldest, randomUUID());
        await finish(host, home);
      }
    }
    const bots = directory.list().slice(1);
    const seeds = new Set(bots.map((bot) => bot.profile.markSeed));
    seen.most = Math.max(seen.most, bots.length);
    seen.doubledSeeds += bots.length - seeds.size;
  }
  host.close();
  console.log(JSON.stringify({ ...seen, own }));
}

void main(process.argv[2] ?? '', process.argv[3] ?? '', Number(process.argv[4]));
