import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepGiven } from '@flowly/contract';
import { acceptRun, claimRun, findRun, outboxSpan, readDeletion, saveStopped } from '@flowly/store';
import { z } from 'zod';
import { openBot, openBotIfThere, type Runner } from '../runner';
import { call, RunnerWorld, until } from '../runner.harness';
import { processOrder } from '../turns/process-order';
import { processTurn } from '../turns/process-turn';
import { reconcileBots } from '../turns/reconciler';

const SESSION = 'desktop:c1';

let world: RunnerWorld;
let runner: Runner;
let botId: string;
beforeEach(async () => {
  world = await RunnerWorld.start();
  runner = await world.runner();
  await call(runner, 'bots.create', { name: 'writer' });
  botId = runner.directory.require('writer').botId;
});
afterEach(() => world.stop());

const preparedSchema = z.object({ confirmation: z.string(), expiresInSeconds: z.literal(60) });
const prepare = async (name = 'writer', by = runner) => {
  const answer = await call(by, 'bots.delete.prepare', { name });
  if (answer === 'follows from the commit') throw new Error('It is a read.');
  expect(answer.result).toMatchObject({ profile: { name, botId: expect.any(String) } });
  return preparedSchema.parse(answer.result).confirmation;
};
const commit = (
  confirmation: string,
  { id, name = 'writer', by = runner }: { id?: string; name?: string; by?: Runner } = {},
) => call(by, 'bots.delete.commit', { name, confirmation }, { id: id ?? randomUUID() });
/** The groups have let go of the bot. */
const left = (by = runner, id = botId) =>
  processOrder(by, { body: { type: 'bot-left', bot: 'writer', botId: id } });
const refused = (code: string, retryable = false) => ({ code, retryable });
const answerTo = async (id: string) =>
  (await world.answers()).filter(({ command }) => command === id).map(({ outcome }) => outcome);
const deletions = () => world.events.filter(({ event }) => event.includes('"action":"deleted"'));
const toldGroups = () => world.told.filter(({ type }) => type === 'bot-deleted');
const folders = () => readdirSync(join(world.home, 'profiles'));

/** A run of a client, as another runner drives it. */
async function busy(aliveMs = 60_000): Promise<void> {
  const { database } = await openBot(runner, 'writer');
  const at = Date.now();
  await database.write(() => {
    acceptRun(database, { runId: 'run-1', sessionKey: SESSION, origin: 'user', fingerprint: '', message: 'Hi',
      modelOverride: null, step: null, at }); // prettier-ignore
    claimRun(database, 'run-1', { owner: 'another', at, aliveUntil: at + aliveMs });
  });
}

const step = (stepKey: string): StepGiven => ({
  type: 'step',
  stepKey,
  groupId: 'group-1',
  runId: 'run-of-group',
  bot: 'writer',
  sessionKey: 'desktop:profile-room:group-1',
  prompt: 'Hello',
  disabledTools: [],
});

it('G216: a wrong confirmation changes nothing; the prepared one deletes the bot', async () => {
  const confirmation = await prepare();
  await expect(commit('not-the-confirmation')).rejects.toMatchObject(
    refused('DELETE_CONFIRMATION_INVALID'),
  );
  expect(runner.directory.find('writer')).not.toBeNull();
  const id = randomUUID();
  await commit(confirmation, { id });
  await until(() => toldGroups().length > 0);
  expect(toldGroups()[0]).toEqual({ type: 'bot-deleted', bot: 'writer', botId });
  expect(await answerTo(id)).toEqual([]);
  await left();
  await until(async () => (await answerTo(id)).length > 0);
  expect(await answerTo(id)).toEqual([{ result: { ok: true, deleted: 'writer', botId } }]);
  await until(() => deletions().length === 1);
  const [event] = deletions();
  expect(JSON.parse(event?.event ?? '')).toMatchObject({
    bot: 'writer',
    botId,
    type: 'directory',
    data: { action: 'deleted', botId },
  });
  expect(folders()).toEqual(['.trash']);
  expect(readdirSync(join(world.home, 'profiles/.trash'))).toEqual([]);
});

describe('a confirmation', () => {
  it('is used up by the attempt that names it, and by no other', async () => {
    await call(runner, 'bots.create', { name: 'other' });
    const [first, second] = [await prepare(), await prepare()];
    const invalid = refused('DELETE_CONFIRMATION_INVALID');
    await expect(commit(first, { name: 'other' })).rejects.toMatchObject(invalid);
    await expect(commit(first)).rejects.toMatchObject(invalid);
    await commit(second);
    expect(runner.directory.find('writer')).toBeNull();
    expect(runner.directory.find('other')).not.toBeNull();
  });

  it('is used up by one that finds the bot working, who is told the same when it comes again', async () => {
    await busy();
    const confirmation = await prepare();
    const id = randomUUID();
    await expect(commit(confirmation, { id })).rejects.toMatchObject(refused('PROFILE_BUSY', true));
    const { database } = await openBot(runner, 'writer');
    await database.write(() => database.run(`UPDATE runs SET state = 'completed', ended_at = 1`));
    await expect(commit(confirmation, { id })).rejects.toMatchObject(refused('PROFILE_BUSY', true));
    await expect(commit(confirmation)).rejects.toMatchObject(
      refused('DELETE_CONFIRMATION_INVALID'),
    );
    await commit(await prepare());
    expect(runner.directory.find('writer')).toBeNull();
  });

  it('is for this very bot, not for another that has its name', async () => {
    const old = await prepare();
    await commit(await prepare());
    await left();
    await call(runner, 'bots.create', { name: 'writer' });
    await expect(commit(old)).rejects.toMatchObject(refused('DELETE_CONFIRMATION_INVALID'));
    expect(runner.directory.find('writer')).not.toBeNull();
  });

  it('is honoured by every runner, for a minute', async () => {
    const confirmation = await prepare();
    const { redis, keys } = runner.bus;
    const ttl = await redis.pttl(keys.confirmation(confirmation));
    expect(ttl).toBeGreaterThan(50_000);
    expect(ttl).toBeLessThanOrEqual(60_000);
    const gone = await prepare();
    await redis.pexpire(keys.confirmation(gone), 0);
    await expect(commit(gone)).rejects.toMatchObject(refused('DELETE_CONFIRMATION_INVALID'));
    await commit(confirmation, { by: await world.runner() });
    expect(runner.directory.find('writer')).toBeNull();
  });
});

it('default cannot be deleted, and what is not there neither', async () => {
  await expect(prepare('default')).rejects.toMatchObject(refused('DEFAULT_PROFILE'));
  await expect(commit('x', { name: 'default' })).rejects.toMatchObject(refused('DEFAULT_PROFILE'));
  await expect(prepare('nobody')).rejects.toMatchObject(refused('PROFILE_NOT_FOUND'));
  await expect(commit('x', { name: 'nobody' })).rejects.toMatchObject(refused('PROFILE_NOT_FOUND'));
});

it('delivered twice, before and after its end and side by side, a commit has one outcome', async () => {
  const confirmation = await prepare();
  const id = randomUUID();
  const other = await world.runner();
  await Promise.all([commit(confirmation, { id }), commit(confirmation, { id, by: other })]);
  await commit(confirmation, { id });
  await Promise.all([left(), left(other)]);
  await commit(confirmation, { id, by: other });
  await until(async () => (await answerTo(id)).length >= 2);
  const outcome = { result: { ok: true, deleted: 'writer', botId } };
  for (const answer of await answerTo(id)) expect(answer).toEqual(outcome);
  expect(deletions()).toHaveLength(1);
});

it('from the decision on the bot is there for nobody, and its name is not free', async () => {
  const confirmation = await prepare();
  const waiting = await prepare();
  const bot = { name: 'writer' };
  await commit(confirmation);
  const gone = refused('PROFILE_NOT_FOUND');
  const ask = (name: string, params = {}) => call(runner, name, params, { bot });
  await expect(
    ask('chat.send', { sessionKey: SESSION, message: 'Hi', idempotencyKey: 'k' }),
  ).rejects.toMatchObject(gone);
  await expect(ask('sessions.list')).rejects.toMatchObject(gone);
  await expect(ask('exec.policy.get')).rejects.toMatchObject(gone);
  await expect(call(runner, 'bots.settings', bot)).rejects.toMatchObject(gone);
  await expect(call(runner, 'bots.configure', { ...bot, displayName: 'X' })).rejects.toMatchObject(
    gone,
  );
  await expect(prepare()).rejects.toMatchObject(gone);
  await expect(commit(waiting)).rejects.toMatchObject(gone);
  await expect(
    call(runner, 'bots.create', { name: 'twin', cloneFrom: 'writer' }),
  ).rejects.toMatchObject(gone);
  expect(await call(runner, 'bots.list', {})).toMatchObject({
    result: { profiles: [{ name: 'default' }] },
  });
  expect(await call(runner, 'bots.statuses', {})).toMatchObject({
    result: { statuses: [{ profile: 'default' }] },
  });
  await expect(call(runner, 'bots.create', bot)).rejects.toMatchObject(
    refused('PROFILE_ALREADY_EXISTS'),
  );
  await left();
  await call(runner, 'bots.create', bot);
});

it('is for nobody already when only its database knows', async () => {
  const { database } = await openBot(runner, 'writer');
  await busy(-1);
  await database.write(
    () =>
    database.run(`INSERT INTO settings VALUES ('deleting', ?)`,
      JSON.stringify({ command: 'c', gateway: 'g', at: 1 })), // prettier-ignore
  );
  await expect(
    call(runner, 'chat.history', { sessionKey: SESSION }, { bot: { name: 'writer' } }),
  ).rejects.toMatchObject(refused('PROFILE_NOT_FOUND'));
  expect(await call(runner, 'bots.list', {})).toMatchObject({
    result: { profiles: [{ name: 'default' }] },
  });
  expect(await call(runner, 'bots.statuses', {})).toMatchObject({
    result: { statuses: [{ profile: 'default' }] },
  });
  const claim = { owner: 'x', at: Date.now(), aliveUntil: Date.now() + 1_000 };
  expect(await database.write(() => claimRun(database, 'run-1', claim))).toBeNull();
  const wanted = { runId: 'run-2', sessionKey: SESSION, origin: 'user', fingerprint: '', message: '',
    modelOverride: null, step: null, at: 1 } as const; // prettier-ignore
  expect(await database.write(() => acceptRun(database, wanted))).toEqual({ kind: 'gone' });
  // Any runner carries it on.
  await reconcileBots(await world.runner());
  expect(runner.directory.find('writer')).toBeNull();
  await until(() => toldGroups().length > 0);
  await left();
  expect(existsSync(join(world.home, 'profiles/writer'))).toBe(false);
});

describe('the work of a group', () => {
  it('is not taken any more, and what is under way is ended by the group’s order', async () => {
    const at = Date.now();
    const bot = await openBot(runner, 'writer');
    const { database } = bot;
    await database.write(() => {
      const { sessionKey } = step('step-1');
      acceptRun(database, { runId: 'step-1', sessionKey, origin: 'group', fingerprint: '', message: 'Hello',
        modelOverride: null, step: { stepKey: 'step-1', groupId: 'group-1', runId: 'run-of-group', bot: 'writer' }, at }); // prettier-ignore
      claimRun(database, 'step-1', { owner: 'another', at, aliveUntil: at + 60_000 });
    });
    await commit(await prepare());
    await processTurn(runner, { body: step('step-2') });
    expect(findRun(database, 'step-2')).toBeNull();
    expect(world.told.filter(({ type }) => type === 'ended')).toEqual([]);
    await processOrder(runner, { body: { ...step('step-1'), type: 'abort' } });
    expect(findRun(database, 'step-1')).toMatchObject({ abortRequested: true, state: 'running' });
    // Its folder stays while another process drives it, and goes when that has ended or is dead.
    await left({ ...runner, limits: { ...runner.limits, aliveMs: 50 } });
    expect(folders()).toEqual(['writer']);
    await database.write(() => database.run('UPDATE runs SET alive_until = 1'));
    await left();
    expect(folders()).toEqual(['.trash']);
    await until(() => world.told.some((job) => job.type === 'ended' && job.stepKey === 'step-1'));
  });

  it('that comes when it is gone is refused', async () => {
    await commit(await prepare());
    await left();
    await processTurn(runner, { body: step('step-3') });
    await until(() => world.told.some((job) => job.type === 'ended' && job.stepKey === 'step-3'));
  });
});

it('the name is free: who has it next has nothing of the old, in any process', async () => {
  const other = await world.runner();
  const old = await openBot(other, 'writer');
  await old.database.write(() => old.database.run(`INSERT INTO sessions(key, created_at, updated_at)
    VALUES ('${SESSION}', 1, 1)`)); // prettier-ignore
  writeFileSync(join(old.folder, 'media', 'picture.png'), 'x');
  await commit(await prepare());
  await left();
  await call(runner, 'bots.create', { name: 'writer' });
  const anew = await openBot(other, 'writer');
  expect(anew.botId).not.toBe(botId);
  expect(anew.database).not.toBe(old.database);
  expect(anew.database.all('SELECT * FROM sessions')).toEqual([]);
  expect(readdirSync(join(anew.folder, 'media'))).toEqual([]);
  expect(readDeletion(anew.database)).toBeNull();
  await reconcileBots(other);
  expect(old.database.isOpen).toBe(false);
  // What is told of the old one again meets nobody.
  await left(other);
  expect((await openBotIfThere(other, 'writer'))?.botId).toBe(anew.botId);
});

it('what its outbox holds is told before it goes', async () => {
  const { database } = await openBot(runner, 'writer');
  await commit(await prepare());
  await until(() => outboxSpan(database).newest === null);
  // As a process leaves it that has died right after its commit.
  const words = { command: 'last words', gateway: 'gateway-1', outcome: { ok: true } };
  const sql = `INSERT INTO ext_outbox(target, kind, body) VALUES ('reply', 'outcome', ?)`;
  await database.write(() => database.run(sql, JSON.stringify(words)));
  await left();
  await until(async () => (await answerTo('last words')).length > 0);
});

it('a database that was set back meanwhile does not bring the bot back', async () => {
  const { database } = await openBot(runner, 'writer');
  await commit(await prepare());
  await database.write(() => database.run(`DELETE FROM settings WHERE key = 'deleting'`));
  const bot = { name: 'writer' };
  await expect(call(runner, 'sessions.list', {}, { bot })).rejects.toMatchObject(
    refused('PROFILE_NOT_FOUND'),
  );
  await reconcileBots(runner);
  await until(() => toldGroups().length > 0);
  await left();
  expect(folders()).toEqual(['.trash']);
});

it('a call whose runner died when the folder was moved is answered once it comes again, or by itself', async () => {
  for (const again of [(id: string) => commit('used', { id }), () => reconcileBots(runner)]) {
    const id = randomUUID();
    const bot = runner.directory.require('writer');
    await commit(await prepare(), { id });
    const trash = join(world.home, 'profiles/.trash');
    mkdirSync(trash, { recursive: true });
    renameSync(bot.folder, join(trash, `writer.${bot.botId}`));
    await again(id);
    const outcome = { result: { ok: true, deleted: 'writer', botId: bot.botId } };
    await until(async () => (await answerTo(id)).length > 0);
    expect((await answerTo(id))[0]).toEqual(outcome);
    expect(readdirSync(trash)).toEqual([]);
    await call(runner, 'bots.create', { name: 'writer' });
  }
  await until(() => deletions().length === 2);
});

it('a bot that its owner has stopped can be deleted, and its groups’ steps are not answered', async () => {
  const { database } = await openBot(runner, 'writer');
  await database.write(() => saveStopped(database, true));
  await commit(await prepare());
  await processTurn(runner, { body: step('step-4') });
  expect(findRun(database, 'step-4')).toBeNull();
  const bot = { name: 'writer' };
  for (const method of ['bots.connect', 'bots.stop'])
    await expect(call(runner, method, bot)).rejects.toMatchObject(refused('PROFILE_NOT_FOUND'));
  await left();
  expect(folders()).toEqual(['.trash']);
});
