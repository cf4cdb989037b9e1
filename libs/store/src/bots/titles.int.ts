import type { Database } from '../core/database';
import { accept, BotFixture, claim, exchange } from './bot-fixture';
import { removeSession } from './remove-session';
import { findSession } from './session';
import { findUntitled, overdueTitles, saveTitle } from './titles';

let bot: BotFixture;
let database: Database;
beforeEach(async () => {
  bot = new BotFixture();
  database = await bot.open();
});
afterEach(() => bot.remove());

const KEY = 'ios:a';
const INTERNAL = 'desktop:profile-room:1';
const title = () => findSession(database, KEY)?.title;

it('are due after the first exchange of a session that is not internal', async () => {
  await accept(database, 'r1', { sessionKey: KEY });
  expect(findUntitled(database, KEY)).toBeNull();
  await claim(database, 'r1');
  expect(findUntitled(database, KEY)).toBeNull();
  await exchange(database, 'r2', { sessionKey: 'cli:b', at: 50 });
  await exchange(database, 'r3', { sessionKey: INTERNAL });
  expect(findUntitled(database, 'cli:b')).toEqual({
    key: 'cli:b',
    createdAt: 50,
    question: 'question r2',
    answer: 'answer r2',
  });
  expect(findUntitled(database, INTERNAL)).toBeNull();
  expect(overdueTitles(database, 100, 10)).toEqual(['cli:b']);
  expect(overdueTitles(database, 50, 10)).toEqual([]);
});

it('are given once, and never to a later session of the same key', async () => {
  await exchange(database, 'r1', { sessionKey: KEY, at: 1 });
  const first = findUntitled(database, KEY);
  if (!first) throw new Error('not due');
  await database.write(() => removeSession(database, KEY));
  await exchange(database, 'r2', { sessionKey: KEY, at: 2 });
  await database.write(() => saveTitle(database, first, 'of the removed one'));
  expect(title()).toBeNull();
  const second = findUntitled(database, KEY);
  if (!second) throw new Error('not due');
  await database.write(() => {
    saveTitle(database, second, 'first');
    saveTitle(database, second, 'second');
  });
  expect(title()).toBe('first');
  expect(findUntitled(database, KEY)).toBeNull();
  expect(overdueTitles(database, 100, 10)).toEqual([]);
});
