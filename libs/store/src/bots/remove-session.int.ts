import { BotFixture, accept, claim, exchange } from './bot-fixture';
import type { Database } from '../core/database';
import { findRun } from './run';
import { groupSessionKeys, isSessionMadeBy, openRuns, removeSession } from './remove-session';
import { chatHistory } from './history';
import { findRequest, openRequest } from './requests';

const KEY = 'desktop:profile-room:group-1';
const OTHER = 'desktop:profile-room:group-2';

let fixture: BotFixture;
let database: Database;
beforeEach(async () => {
  fixture = new BotFixture();
  database = await fixture.open();
});
afterEach(() => fixture.remove());

const history = (sessionKey: string) => chatHistory(database, { sessionKey }).messages;

it('takes the history and leaves receipts without what was said', async () => {
  await exchange(database, 'r1', { sessionKey: KEY });
  await exchange(database, 'r2', { sessionKey: OTHER });
  await database.write(() => removeSession(database, KEY));
  expect(groupSessionKeys(database)).toEqual([OTHER]);
  expect(history(KEY)).toEqual([]);
  expect(history(OTHER)).toHaveLength(2);
  expect(findRun(database, 'r1')).toMatchObject({ state: 'completed', message: '' });
  expect(findRun(database, 'r2')).toMatchObject({ message: 'question r2' });
});

it('takes along what was asked of people in it', async () => {
  await accept(database, 'r1', { sessionKey: KEY });
  const run = await claim(database, 'r1');
  const request = { id: 'a', runId: 'r1', sessionKey: KEY, kind: 'approval' as const, body: {} };
  const opened = await database.write(() =>
    openRequest(database, { ...request, createdAt: 1, expiresAt: 9 }, run?.epoch ?? 0),
  );
  expect(opened).not.toBeNull();
  await database.write(() => removeSession(database, KEY));
  expect(findRequest(database, 'a')).toBeNull();
});

it('knows the private sessions of groups among all others', async () => {
  for (const sessionKey of ['desktop:c1', 'ios:a', OTHER, KEY, 'desktop:profile-task:t'])
    await accept(database, `run in ${sessionKey}`, { sessionKey });
  expect(groupSessionKeys(database)).toEqual([KEY, OTHER]);
});

it('knows when a session was made, whenever it was last used', async () => {
  await accept(database, 'r1', { sessionKey: KEY, at: 5 });
  await accept(database, 'r2', { sessionKey: KEY, at: 9 });
  expect([4, 5, 9].map((at) => isSessionMadeBy(database, KEY, at))).toEqual([false, true, true]);
  expect(isSessionMadeBy(database, OTHER, 9)).toBe(false);
});

it('knows which runs of a session are open', async () => {
  await exchange(database, 'r0', { sessionKey: KEY });
  for (const runId of ['r1', 'r2']) await accept(database, runId, { sessionKey: KEY });
  await claim(database, 'r1');
  await accept(database, 'other', { sessionKey: OTHER });
  const open = openRuns(database, KEY).map(({ runId, state }) => [runId, state]);
  expect(open).toEqual([
    ['r1', 'running'],
    ['r2', 'accepted'],
  ]);
});
