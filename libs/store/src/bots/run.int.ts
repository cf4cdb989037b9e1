import { statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { requestAbort } from './abort-run';
import { BotFixture, accept, answer, claim, exchange } from './bot-fixture';
import { BOT_DATABASE, openBotStore } from './bot-store';
import { markSideEffects, renewAlive } from './claim-run';
import { endRun, endWaitingRun } from './end-run';
import { chatHistory } from './history';
import { activeRunCount, findRun, lastUsedAt, nextOpenRun, runsToTakeUp } from './run';
import type { Database } from '../core/database';

let bot: BotFixture;
let database: Database;
let other: Database;

beforeEach(async () => {
  bot = new BotFixture();
  database = await bot.open();
  other = await bot.open();
});
afterEach(() => bot.remove());

const texts = (sessionKey = 'desktop:c1') =>
  chatHistory(database, { sessionKey }).messages.map((message) => message.content[0]?.text);
const end = (runId: string, epoch: number, from = database) =>
  from.write(() =>
    endRun(from, {
      runId,
      epoch,
      state: 'completed',
      outcome: { text: 'x' },
      message: answer(`answer ${runId}`),
      at: 9,
    }),
  );

describe('the file', () => {
  it('is private and carries its own format', () => {
    expect(statSync(join(bot.folder, BOT_DATABASE)).mode & 0o777).toBe(0o600);
    expect(database.pragma('application_id')).toBe(0x464c5942);
    expect(database.pragma('user_version')).toBe(2);
    expect(database.id).toBe('bot:bot-1');
  });

  it('is left untouched when it is newer or foreign', async () => {
    const file = join(bot.folder, BOT_DATABASE);
    const sqlite = new Sqlite(file);
    sqlite.pragma('user_version = 99');
    sqlite.close();
    await expect(
      openBotStore({ folder: bot.folder, botId: 'b', busyMs: 10 }),
    ).rejects.toMatchObject({
      code: 'PROFILE_OPERATION_FAILED',
      retryable: false,
    });
    expect(database.pragma('user_version')).toBe(99);
  });
});

describe('acceptance', () => {
  it('is a receipt, known again by id, session and content', async () => {
    expect(await accept(database, 'r1')).toMatchObject({ kind: 'new', abortedBefore: false });
    expect(await accept(other, 'r1')).toMatchObject({ kind: 'known', run: { state: 'accepted' } });
    expect(await accept(other, 'r1', { fingerprint: 'other' })).toEqual({ kind: 'conflict' });
    expect(await accept(other, 'r1', { sessionKey: 'ios:b' })).toEqual({ kind: 'conflict' });
    expect(activeRunCount(database)).toBe(1);
    expect(lastUsedAt(database)).toBe(1);
  });

  it('knows a step of a group by its id alone and keeps what it answers to', async () => {
    const step = { stepKey: 'k1', groupId: 'g', runId: 'r', bot: 'writer' };
    await accept(database, 'k1', { origin: 'group', step, disabledTools: ['exec'] });
    const again = await accept(database, 'k1', { origin: 'group', step, fingerprint: 'other' });
    expect(again).toMatchObject({ kind: 'known', run: { step, disabledTools: ['exec'] } });
  });

  it('takes an abort that came first, of the right session only', async () => {
    await database.write(() => {
      expect(requestAbort(database, 'r1', null, 1)).toBe('unknown');
      expect(requestAbort(database, 'r2', 'ios:other', 1)).toBe('unknown');
    });
    expect(await accept(database, 'r1')).toMatchObject({
      abortedBefore: true,
      run: { abortRequested: true },
    });
    expect(await accept(database, 'r2')).toMatchObject({ abortedBefore: false });
  });

  it('takes no abort of a client for a step of a group', async () => {
    const step = { stepKey: 'k1', groupId: 'g', runId: 'r', bot: 'writer' };
    await database.write(() => requestAbort(database, 'k1', null, 1));
    expect(await accept(database, 'k1', { origin: 'group', step })).toMatchObject({
      abortedBefore: false,
      run: { abortRequested: false },
    });
  });
});

describe('claims', () => {
  it('give a session to one run at a time, in the order accepted', async () => {
    await accept(database, 'r1');
    await accept(database, 'r2');
    await accept(database, 's1', { sessionKey: 'ios:b' });
    expect(await claim(other, 'r2')).toBeNull();
    expect(await claim(database, 'r1')).toMatchObject({ state: 'running', epoch: 1, startedAt: 1 });
    expect(await claim(other, 'r1')).toBeNull();
    expect(await claim(other, 'r2')).toBeNull();
    expect(await claim(other, 's1')).toMatchObject({ epoch: 1 });
    expect(await end('r1', 1)).toBe(true);
    expect(nextOpenRun(database, 'desktop:c1')?.runId).toBe('r2');
    expect(await claim(other, 'r2')).toMatchObject({ epoch: 1 });
  });

  it('put the message into the history when the run first starts', async () => {
    await accept(database, 'r1');
    await accept(database, 'r2');
    expect(texts()).toEqual([]);
    await claim(database, 'r1');
    expect(texts()).toEqual(['question r1']);
    await claim(other, 'r1', { owner: 'runner-2', at: 500 });
    await end('r1', 2);
    await claim(database, 'r2');
    expect(texts()).toEqual(['question r1', 'answer r1', 'question r2']);
  });

  it('shut out the owner whose time has passed', async () => {
    await accept(database, 'r1');
    await claim(database, 'r1', { owner: 'runner-1', at: 10, aliveUntil: 20 });
    expect(await claim(other, 'r1', { owner: 'runner-2', at: 20 })).toBeNull();
    expect(await claim(other, 'r1', { owner: 'runner-2', at: 21 })).toMatchObject({ epoch: 2 });
    expect(await database.write(() => renewAlive(database, 'runner-1', 99))).toEqual([]);
    expect(await database.write(() => markSideEffects(database, 'r1', 1))).toBe(false);
    expect(await end('r1', 1)).toBe(false);
    expect(findRun(database, 'r1')).toMatchObject({
      state: 'running',
      owner: 'runner-2',
      sideEffects: false,
    });
    expect(await end('r1', 2, other)).toBe(true);
    expect(await end('r1', 2, other)).toBe(false);
    expect(texts()).toEqual(['question r1', 'answer r1']);
  });

  it('remember that a tool with side effects has run', async () => {
    await accept(database, 'r1');
    await claim(database, 'r1');
    await database.write(() => markSideEffects(database, 'r1', 1));
    expect(await claim(other, 'r1', { at: 500 })).toMatchObject({ sideEffects: true });
  });

  it('are renewed all at once', async () => {
    await accept(database, 'r1');
    await accept(database, 's1', { sessionKey: 'ios:b' });
    await claim(database, 'r1');
    await claim(database, 's1');
    expect(await database.write(() => renewAlive(database, 'runner-1', 900))).toEqual(['r1', 's1']);
    expect(findRun(other, 's1')?.aliveUntil).toBe(900);
  });
});

describe('what is to be taken up', () => {
  it('is the first run of each session that nobody drives', async () => {
    for (const [runId, sessionKey] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
      ['b2', 'b'],
      ['c1', 'c'],
    ] as const) {
      await accept(database, runId, { sessionKey });
    }
    await claim(database, 'a1', { at: 1, aliveUntil: 50 });
    await claim(database, 'c1', { at: 1, aliveUntil: 10 });
    const found = (at: number) => runsToTakeUp(other, at).map((run) => run.runId);
    expect(found(20)).toEqual(['b1', 'c1']);
    expect(found(51)).toEqual(['a1', 'b1', 'c1']);
    await end('a1', 1);
    expect(found(20)).toEqual(['a2', 'b1', 'c1']);
  });
});

describe('aborts', () => {
  it('reach open runs of that session, and end at once those that wait', async () => {
    await accept(database, 'r1');
    await accept(database, 'r2');
    await claim(database, 'r1');
    await database.write(() => {
      expect(requestAbort(database, 'r1', 'ios:other', 2)).toBe('unknown');
      expect(requestAbort(database, 'r1', 'desktop:c1', 2)).toBe('requested');
      expect(endWaitingRun(database, { runId: 'r1', state: 'aborted', outcome: {}, at: 2 })).toBe(
        false,
      );
      expect(requestAbort(database, 'r2', null, 2)).toBe('requested');
      expect(
        endWaitingRun(database, {
          runId: 'r2',
          state: 'aborted',
          outcome: { aborted: true },
          at: 2,
        }),
      ).toBe(true);
    });
    expect(findRun(database, 'r1')).toMatchObject({ state: 'running', abortRequested: true });
    expect(findRun(database, 'r2')).toMatchObject({ state: 'aborted', outcome: { aborted: true } });
    await end('r1', 1);
    expect(await database.write(() => requestAbort(database, 'r1', null, 3))).toBe('ended');
    expect(texts()).toEqual(['question r1', 'answer r1']);
    expect(activeRunCount(database)).toBe(0);
  });
});

it('keeps a receipt and its outcome after the run', async () => {
  await exchange(database, 'r1');
  expect(await accept(other, 'r1')).toMatchObject({
    kind: 'known',
    run: { state: 'completed', outcome: {} },
  });
});
