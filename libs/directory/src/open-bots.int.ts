import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HomeFixture } from './home-fixture';
import { OpenBots } from './open-bots';

let fixture: HomeFixture;
let bots: OpenBots;
beforeEach(async () => {
  fixture = new HomeFixture();
  fixture.prepare();
  await fixture.create({ name: 'writer' });
  bots = new OpenBots(fixture.directory, { busyMs: 1_000 });
});
afterEach(async () => {
  await bots.close();
  fixture.remove();
});
const noError = (name: string, error: unknown) => {
  throw new Error(`${name}: ${String(error)}`);
};

it('keeps one database a bot open, also when it is asked for at once', async () => {
  const [first, second] = await Promise.all([bots.open('writer'), bots.open('writer')]);
  expect(second.database).toBe(first.database);
  expect(first.database.id).toBe(`bot:${first.botId}`);
  expect((await bots.open('default')).database.id).not.toBe(first.database.id);
  expect((await bots.openAll(noError)).map((bot) => bot.name)).toEqual(['default', 'writer']);
});

it('never takes a bot of the same name, or another file, for the one it knew', async () => {
  const { botId, database, folder } = await bots.open('writer');
  renameSync(folder, join(fixture.home, 'away'));
  await expect(bots.open('writer')).rejects.toMatchObject({ code: 'PROFILE_NOT_FOUND' });
  await fixture.create({ name: 'writer' });
  const anew = await bots.open('writer');
  expect(anew.botId).not.toBe(botId);
  await bots.openAll(noError);
  expect(database.isOpen).toBe(false);
  const file = join(folder, 'bot.sqlite3');
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  const [restored, same] = await Promise.all([bots.open('writer'), bots.open('writer')]);
  expect(restored.database).not.toBe(anew.database);
  expect(same.database).toBe(restored.database);
  expect(anew.database.isOpen).toBe(false);
});

it('opens the others when one cannot be opened', async () => {
  rmSync(join(fixture.home, 'profiles/writer/bot.sqlite3'));
  fixture.write(
    'profiles/writer/bot.sqlite3',
    'no database at all, but long enough to be looked at',
  );
  const failed: string[] = [];
  expect((await bots.openAll((name) => failed.push(name))).map((bot) => bot.name)).toEqual([
    'default',
  ]);
  expect(failed).toEqual(['writer']);
});
