import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { emptyTrash, hideBot, removeBot, type GoneBot } from './delete-bot';
import type { Bot } from './directory';
import { HomeFixture } from './home-fixture';

const DELETION = { command: 'c-1', gateway: 'g', at: 1 };

let fixture: HomeFixture;
let bot: Bot;
let gone: GoneBot[];
beforeEach(async () => {
  fixture = new HomeFixture();
  fixture.prepare();
  bot = await fixture.create({ name: 'writer' });
  gone = [];
});
afterEach(() => fixture.remove());

const hide = async (one = bot) => hideBot(await fixture.host(), fixture.home, one, DELETION);
const remove = async (isFree = () => true, one = bot) =>
  removeBot(await fixture.host(), fixture.home, one, isFree, (each) => gone.push(each));
const empty = async () => emptyTrash(await fixture.host(), fixture.home, (each) => gone.push(each));
const trash = () => readdirSync(join(fixture.home, 'profiles/.trash'));

it('a hidden bot is no bot, keeps its name and does not count', async () => {
  await hide();
  await hide();
  expect(fixture.directory.list().map(({ name }) => name)).toEqual(['default']);
  expect(fixture.directory.leaving()).toMatchObject([{ name: 'writer', botId: bot.botId }]);
  expect(fixture.directory.findFolder('writer')?.botId).toBe(bot.botId);
  await expect(fixture.create({ name: 'writer' })).rejects.toMatchObject({
    code: 'PROFILE_ALREADY_EXISTS',
    message: expect.stringContaining('still being deleted'),
  });
  const next = await fixture.create({ name: 'next' }, { limit: 1 });
  expect(next.profile.markSeed).toBe(0);
});

it('only a hidden bot that nobody works on is removed, and that very one', async () => {
  expect(await remove()).toBe(true);
  expect(fixture.directory.find('writer')).not.toBeNull();
  await hide();
  expect(await remove(() => false)).toBe(false);
  expect(existsSync(bot.folder)).toBe(true);
  expect(await remove(() => true, { ...bot, botId: 'another' })).toBe(true);
  expect(existsSync(bot.folder)).toBe(true);
  expect(gone).toEqual([]);
  expect(await remove()).toBe(true);
  expect(existsSync(bot.folder)).toBe(false);
  expect(gone[0]).toEqual({ name: 'writer', botId: bot.botId, deletion: DELETION });
  expect(trash()).toEqual([]);
});

it('a new bot of that name is neither hidden nor removed by what comes again', async () => {
  await hide();
  await remove();
  const next = await fixture.create({ name: 'writer' });
  await hide();
  await remove();
  expect(fixture.directory.find('writer')?.botId).toBe(next.botId);
});

it('what cannot be committed is not moved for good, and told when it can be', async () => {
  await hide();
  const failing = () => {
    throw new Error('no room');
  };
  const host = await fixture.host();
  await expect(removeBot(host, fixture.home, bot, () => true, failing)).rejects.toMatchObject({
    code: 'PROFILE_OPERATION_FAILED',
  });
  expect(trash()).toEqual([`writer.${bot.botId}`]);
  await expect(emptyTrash(host, fixture.home, failing)).rejects.toThrow();
  expect(trash()).toHaveLength(1);
  await empty();
  expect(gone).toEqual([{ name: 'writer', botId: bot.botId, deletion: DELETION }]);
  expect(trash()).toEqual([]);
});

it('what a process left half-removed goes without a word', async () => {
  await hide();
  await remove();
  gone = [];
  const left = join(fixture.home, 'profiles/.trash/writer.x');
  mkdirSync(join(left, 'media'), { recursive: true });
  writeFileSync(join(left, 'media', 'a.png'), 'x');
  await empty();
  expect([trash(), gone]).toEqual([[], []]);
  rmSync(join(fixture.home, 'profiles/.trash'), { recursive: true });
  await empty();
});

it('others use the lock, and this process goes on, while a large bot is removed', async () => {
  const files = join(bot.folder, 'workspace', 'files');
  mkdirSync(files);
  for (let index = 0; index < 1_500; index++) writeFileSync(join(files, `${index}`), '');
  await hide();
  let isRemoved = false;
  const removing = remove().then(() => (isRemoved = true));
  const left: number[] = [];
  const host = await fixture.host();
  while (!isRemoved) {
    await setImmediate();
    await host.write(() => left.push(filesInTrash()));
  }
  await removing;
  expect(left.some((count) => count > 0 && count < 1_500)).toBe(true);
  expect(trash()).toEqual([]);
});

function filesInTrash(): number {
  const files = join(fixture.home, `profiles/.trash/writer.${bot.botId}/workspace/files`);
  return existsSync(files) ? readdirSync(files).length : 0;
}
