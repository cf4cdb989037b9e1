import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { Gate, ScriptedModelServer } from '@flowly/testing';
import { seal } from '@flowly/bus';
import { findRun, saveStopped } from '@flowly/store';
import { call, RunnerWorld } from '../runner.harness';
import type { Runner } from '../runner';

let world: RunnerWorld;
let runner: Runner;
let server: ScriptedModelServer;
beforeEach(async () => {
  world = await RunnerWorld.start();
  runner = await world.runner();
  server = await ScriptedModelServer.start();
  await call(runner, 'bots.create', { name: 'writer', cloneFrom: null });
});
afterEach(async () => {
  await server.close();
  await world.stop();
});

const changed = { code: 'PROFILE_IDENTITY_CHANGED', retryable: false };
const botIdOf = (name: string) => runner.directory.require(name).botId;
const guard = () => ({
  bot: { name: 'writer', expectedHostId: world.hostId, expectedBotId: botIdOf('writer') },
});

/** Another bot under the same name. */
async function replaceWriter(): Promise<void> {
  renameSync(join(world.home, 'profiles/writer'), join(world.home, 'profiles/.gone'));
  await call(runner, 'bots.create', { name: 'writer', cloneFrom: null });
}

async function listSlowly(): Promise<{ answer: Promise<unknown>; gate: Gate }> {
  const credential = { provider: 'vllm', apiBase: server.apiBase };
  const sealed = seal(world.sealKey.publicKey, JSON.stringify(credential));
  await call(runner, 'bots.configure', { name: 'writer', credential: sealed });
  const gate = new Gate();
  const asked = new Gate();
  server.answerLists(() => {
    asked.open();
    return { gate: gate.opened, body: { data: [{ id: 'm' }] } };
  });
  const answer = call(runner, 'model.list', {}, guard());
  answer.catch(() => undefined);
  await asked.opened;
  return { answer, gate };
}

it('a bot that was replaced while a read ran does not answer for the one expected', async () => {
  const { answer, gate } = await listSlowly();
  await replaceWriter();
  gate.open();
  await expect(answer).rejects.toMatchObject(changed);
});

it('a bot that went while a read ran is not found', async () => {
  const { answer, gate } = await listSlowly();
  renameSync(join(world.home, 'profiles/writer'), join(world.home, 'profiles/.gone'));
  gate.open();
  await expect(answer).rejects.toMatchObject({ code: 'PROFILE_NOT_FOUND' });
});

it('a bot that stays answers, also after its settings changed', async () => {
  const { answer, gate } = await listSlowly();
  await call(runner, 'bots.configure', { name: 'writer', displayName: 'New' });
  gate.open();
  await expect(answer).resolves.toMatchObject({ result: { models: [{ id: 'm' }] } });
});

it('a change looks inside its commit, and then changes nothing', async () => {
  const { database } = await runner.openBots.open('writer');
  const params = { sessionKey: 'ios:a', message: 'hi', idempotencyKey: 'r1' };
  // The bot is replaced between the look before the call and the call's commit.
  const write = database.write.bind(database);
  jest.spyOn(database, 'write').mockImplementationOnce(async (work) => {
    await replaceWriter();
    return write(work);
  });
  await expect(call(runner, 'chat.send', params, guard())).rejects.toMatchObject(changed);
  expect(findRun(database, 'r1')).toBeNull();
});

it('who is expected is judged before the owner’s stop, and that a bot is there before both', async () => {
  const ask = (more: object) =>
    call(runner, 'sessions.list', {}, { bot: { ...guard().bot, ...more } });
  const { database } = await runner.openBots.open('writer');
  await database.write(() => saveStopped(database, true));
  await expect(ask({})).rejects.toMatchObject({ code: 'PROFILE_STOPPED' });
  await expect(ask({ expectedBotId: 'other' })).rejects.toMatchObject(changed);
  await expect(ask({ expectedHostId: 'other', name: 'nobody' })).rejects.toMatchObject(changed);
  const nobody = { expectedBotId: 'other', name: 'nobody' };
  await expect(ask(nobody)).rejects.toMatchObject({ code: 'PROFILE_NOT_FOUND' });
});
