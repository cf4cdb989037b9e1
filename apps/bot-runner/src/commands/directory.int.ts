import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seal } from '@flowly/bus';
import { call, RunnerWorld, until } from '../runner.harness';
import type { Runner } from '../runner';

let world: RunnerWorld;
let runner: Runner;
beforeEach(async () => {
  world = await RunnerWorld.start();
  runner = await world.runner();
});
afterEach(() => world.stop());

const directoryEvents = () =>
  world.events.filter(({ event }) => event.includes('"type":"directory"'));

it('create: the same command again answers the same and makes nothing', async () => {
  const id = randomUUID();
  const create = () => call(runner, 'bots.create', { name: 'writer' }, { id });
  await create();
  await create();
  await Promise.all([create(), create()]);
  await until(() => world.replies.length === 4);
  const answers = await world.answers();
  expect(answers[0]?.outcome).toMatchObject({ result: { ok: true, profile: { name: 'writer' } } });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(directoryEvents()).toHaveLength(1);
});

it('create: another command for a name that is taken is refused', async () => {
  await call(runner, 'bots.create', { name: 'writer' });
  const again = call(runner, 'bots.create', { name: 'writer' });
  await expect(again).rejects.toMatchObject({ code: 'PROFILE_ALREADY_EXISTS' });
});

it('configure: repeated it answers the same; later changes of others stay', async () => {
  await call(runner, 'bots.create', { name: 'writer' });
  const id = randomUUID();
  const configure = () =>
    call(runner, 'bots.configure', { name: 'writer', displayName: 'First' }, { id });
  await configure();
  await call(runner, 'bots.configure', { name: 'writer', displayName: 'Second' });
  await configure();
  await until(() => world.replies.length === 4);
  const answers = await world.answers();
  expect(answers[3]).toEqual(answers[1]);
  expect(runner.directory.require('writer').profile.displayName).toBe('Second');
});

it('configure: a credential goes into the bot’s files and nowhere else', async () => {
  const secret = { provider: 'openai', apiKey: 'sk-very-secret' };
  const credential = seal(world.sealKey.publicKey, JSON.stringify(secret));
  await call(runner, 'bots.configure', { name: 'default', credential });
  await until(() => world.replies.length === 1);
  expect(readFileSync(join(world.home, 'config.json'), 'utf8')).toContain('sk-very-secret');
  const left = JSON.stringify([world.events, world.replies, await world.answers()]);
  expect(left).not.toContain('sk-very-secret');
  expect(readFileSync(join(world.home, 'host.sqlite3')).includes('sk-very-secret')).toBe(false);
});

it('the identity guard refuses another host or another bot', async () => {
  const guarded = (guard: object) =>
    call(
      runner,
      'chat.history',
      { sessionKey: 'desktop:c1' },
      { bot: { name: 'default', ...guard } },
    );
  await expect(guarded({ expectedHostId: 'other' })).rejects.toMatchObject({
    code: 'PROFILE_IDENTITY_CHANGED',
  });
  await expect(guarded({ expectedBotId: 'other' })).rejects.toMatchObject({
    code: 'PROFILE_IDENTITY_CHANGED',
  });
  await guarded({ expectedHostId: world.hostId });
});
