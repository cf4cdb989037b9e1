import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../core/database';
import { requestAbort } from './abort-run';
import { accept, BotFixture, claim } from './bot-fixture';
import {
  isStopped,
  isStoppedAt,
  isStopPendingAt,
  pendingStops,
  removePendingStop,
  savePendingStop,
  saveStopped,
} from './stopped';

let bot: BotFixture;
let database: Database;
beforeEach(async () => {
  bot = new BotFixture();
  database = await bot.open();
});
afterEach(() => bot.remove());

const save = (stopped: boolean, on = database) => on.write(() => saveStopped(on, stopped));

describe('the stop of a bot', () => {
  it('stands in every process and after a restart, until it is taken back', async () => {
    const other = await bot.open();
    expect([isStopped(database), isStoppedAt(bot.folder)]).toEqual([false, false]);
    await save(true);
    expect([isStopped(other), isStoppedAt(bot.folder)]).toEqual([true, true]);
    other.close();
    database.close();
    database = await bot.open();
    expect(isStopped(database)).toBe(true);
    await save(false);
    expect([isStopped(database), isStoppedAt(bot.folder)]).toEqual([false, false]);
  });

  it('is none where there is no database, and not known where it cannot be read', () => {
    expect(isStoppedAt(join(bot.folder, 'nowhere'))).toBe(false);
    database.close();
    writeFileSync(join(bot.folder, 'bot.sqlite3'), 'no database at all, whatever its name says');
    expect(() => isStoppedAt(bot.folder)).toThrow();
  });

  it('lets nothing be accepted that is new; what is known stays known', async () => {
    await accept(database, 'before');
    await save(true);
    expect(await accept(database, 'after')).toEqual({ kind: 'stopped' });
    expect(await accept(database, 'before')).toMatchObject({ kind: 'known' });
    await save(false);
    expect(await accept(database, 'after')).toMatchObject({ kind: 'new' });
  });

  it('lets nothing begin or be taken over, but for what is to end', async () => {
    await accept(database, 'waiting');
    await accept(database, 'left', { sessionKey: 'desktop:c2' });
    await claim(database, 'left', { at: 1, aliveUntil: 2 });
    await save(true);
    expect(await claim(database, 'waiting', { at: 10 })).toBeNull();
    expect(await claim(database, 'left', { at: 10 })).toBeNull();
    await database.write(() => requestAbort(database, 'left', null, 10));
    expect(await claim(database, 'left', { at: 10 })).toMatchObject({ epoch: 2 });
    await save(false);
    expect(await claim(database, 'waiting', { at: 10 })).toMatchObject({ epoch: 1 });
  });
});

it('stops that wait for groups are kept, each once, until they are done', async () => {
  const stop = (id: string, givenAt: number) => ({ command: { id, gateway: 'g' }, givenAt });
  await database.write(() => {
    savePendingStop(database, stop('one', 1));
    savePendingStop(database, stop('two', 2));
    savePendingStop(database, stop('one', 3));
  });
  expect(pendingStops(database)).toEqual([stop('two', 2), stop('one', 3)]);
  expect(isStopPendingAt(bot.folder, 'two')).toBe(true);
  await database.write(() => removePendingStop(database, 'two'));
  expect(pendingStops(database)).toEqual([stop('one', 3)]);
  expect(isStopPendingAt(bot.folder, 'two')).toBe(false);
});
