import type { Database } from '../core/database';
import { BotFixture } from './bot-fixture';
import {
  allowProgram,
  noteProgramsUsed,
  readExecAllowlist,
  readExecPolicy,
  saveExecPolicy,
} from './exec-policy';

let bot: BotFixture;
let database: Database;
beforeEach(async () => {
  bot = new BotFixture();
  database = await bot.open();
});
afterEach(() => bot.remove());

it('starts at the defaults without a sandbox and keeps what is set', async () => {
  expect(readExecPolicy(database)).toEqual({ security: 'allowlist', ask: 'on-miss' });
  await database.write(() => saveExecPolicy(database, { security: 'full', ask: 'always' }));
  expect(readExecPolicy(await bot.open())).toEqual({ security: 'full', ask: 'always' });
});

it('has each allowed program once, with its last use', async () => {
  expect(readExecAllowlist(database)).toEqual([]);
  const allow = (pattern: string, command: string, at: number) =>
    database.write(() => allowProgram(database, { pattern, command }, at));
  await allow('/usr/bin/git', 'git status', 1);
  await allow('/usr/bin/node', 'node -v', 2);
  await allow('/usr/bin/git', 'git log', 3);
  await database.write(() => noteProgramsUsed(database, new Set(['/usr/bin/node']), 9));
  expect(readExecAllowlist(database)).toEqual([
    { pattern: '/usr/bin/node', command: 'node -v', lastUsedAt: 9 },
    { pattern: '/usr/bin/git', command: 'git log', lastUsedAt: 3 },
  ]);
});
