import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Gate, type ScriptedModelServer } from '@flowly/testing';
import { chatHistory } from '@flowly/store';
import { database, Talk, useModelServer } from '../conversation.harness';
import { call, RunnerWorld, until } from '../runner.harness';
import type { Runner } from '../runner';

let world: RunnerWorld;
let models: ScriptedModelServer;
let runner: Runner;
let talk: Talk;
beforeEach(async () => {
  world = await RunnerWorld.start();
  models = await useModelServer(world);
  models.answer(({ model }) => `from ${model}`);
  runner = await world.runner();
  talk = new Talk(world);
});
afterEach(async () => {
  await models.close();
  await world.stop();
});

const BUSY = { code: 'SESSION_BUSY' };
const remove = (params: Record<string, unknown>, id?: string) =>
  call(runner, 'sessions.delete', params, id === undefined ? {} : { id });
const set = (model: unknown, sessionKey = talk.sessionKey) =>
  call(runner, 'sessions.model.set', { sessionKey, model });
const get = (sessionKey = talk.sessionKey) => call(runner, 'sessions.model.get', { sessionKey });

describe('sessions.delete', () => {
  it('takes the session and its history away, once, and keeps the receipts', async () => {
    const { sessionKey } = talk;
    await talk.send(runner, 'r1');
    await talk.ended('r1');
    await remove({ sessionKey }, 'd1');
    await remove({ sessionKey }, 'd1');
    await remove({ sessionKey }, 'd2');
    await talk.send(runner, 'r1');
    expect((await talk.answered(5)).slice(1)).toEqual([
      { result: { deleted: true, sessionKey } },
      { result: { deleted: true, sessionKey } },
      { result: { deleted: false, sessionKey } },
      { result: { runId: 'r1', status: 'completed', replayed: true } },
    ]);
    expect(chatHistory(await database(runner), { sessionKey }).messages).toEqual([]);
    expect(await talk.row(runner)).toBeUndefined();
    expect(models.calls).toHaveLength(1);
  });

  it('takes the files of its messages away, and those of no other session', async () => {
    const content = Buffer.from('bytes').toString('base64');
    const attachments = [{ fileName: 'a.txt', mimeType: 'text/plain', content }];
    const other = new Talk(world, 'ios:other');
    await talk.send(runner, 'r1', { attachments });
    await other.send(runner, 'r2', { attachments });
    await talk.ended('r1', 'r2');
    const files = () =>
      readdirSync(join(world.home, 'media')).filter((name) => name.startsWith('chat-'));
    expect(files()).toHaveLength(2);
    await remove({ sessionKey: talk.sessionKey });
    expect(files()).toHaveLength(1);
    const { messages } = chatHistory(await database(runner), { sessionKey: other.sessionKey });
    expect(messages[0]?.attachments).toMatchObject([{ mediaId: files()[0] }]);
  });

  it('is refused while a turn runs or waits, and nothing is lost then', async () => {
    const gate = new Gate();
    models.script('m', [{ gate: gate.opened, text: 'first' }, 'second']);
    await talk.send(runner, 'r1');
    await talk.send(runner, 'r2');
    await models.waitForCalls(1);
    await expect(remove({ sessionKey: talk.sessionKey })).rejects.toMatchObject(BUSY);
    gate.open();
    await talk.ended('r1');
    // The next one waits: nobody takes it.
    expect(await talk.state(runner, 'r2')).toBe('accepted');
    await expect(remove({ sessionKey: talk.sessionKey })).rejects.toMatchObject(BUSY);
    await world.takeTurns(runner);
    await talk.ended('r2');
    await until(async () => (await talk.row(runner))?.running === false);
    await remove({ sessionKey: talk.sessionKey });
    await until(async () => (await talk.row(runner)) === undefined);
  });
});

describe('the model of a session', () => {
  it('is its own until it is taken away, also before its first message', async () => {
    const { sessionKey } = talk;
    const none = { sessionKey, model: null, inherited: true };
    expect(await get()).toMatchObject({ result: none });
    await set(null);
    expect(await talk.row(runner)).toBeUndefined();
    await set('m2');
    expect(await get()).toMatchObject({ result: { sessionKey, model: 'm2', inherited: false } });
    expect(await talk.row(runner)).toMatchObject({ modelOverride: 'm2' });
    expect(chatHistory(await database(runner), { sessionKey }).modelOverride).toBe('m2');
    await set('');
    expect(await get()).toMatchObject({ result: none });
    expect((await talk.answered(3)).slice(1)).toEqual([
      { result: { sessionKey, model: 'm2', inherited: false } },
      { result: none },
    ]);
  });

  it('comes after the one of the message and before the one of the bot', async () => {
    await talk.send(runner, 'r1');
    await talk.ended('r1');
    await set('of-session');
    await talk.send(runner, 'r2');
    await talk.ended('r2');
    await talk.send(runner, 'r3', { modelOverride: 'of-message' });
    await talk.ended('r3');
    await set(null);
    await talk.send(runner, 'r4', { modelOverride: '' });
    await talk.ended('r4');
    expect(models.calls.map(({ model }) => model)).toEqual(['m', 'of-session', 'of-message', 'm']);
  });

  it.each([
    ['longer than 256', 'x'.repeat(257)],
    ['a number', 1],
    ['absent', undefined],
  ])('is refused: %s', async (_, model) => {
    await expect(set(model)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  it('cannot change while a turn runs', async () => {
    const gate = new Gate();
    models.script('m', [{ gate: gate.opened, text: 'first' }]);
    await talk.send(runner, 'r1');
    await expect(set('other')).rejects.toMatchObject(BUSY);
    gate.open();
    await talk.ended('r1');
    await set('x'.repeat(256));
    expect(await get()).toMatchObject({ result: { inherited: false } });
  });
});
