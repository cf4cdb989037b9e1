import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BotStopping, CommandOutcome } from '@flowly/contract';
import { findRun, isStopped, pendingStops } from '@flowly/store';
import { call, RunnerWorld, until } from '../runner.harness';
import type { Runner } from '../runner';
import { processOrder } from '../turns/process-order';
import { reconcileBots } from '../turns/reconciler';

let world: RunnerWorld;
let runner: Runner;
beforeEach(async () => {
  world = await RunnerWorld.start({ reconcileMs: 50 });
  runner = await world.runner();
  await call(runner, 'bots.create', { name: 'writer', provider: 'demo' });
  await until(() => world.replies.length === 1);
});
afterEach(() => world.stop());

const bot = { name: 'writer' };
const rpc = (method: string, params: Record<string, unknown> = {}, id: string = randomUUID()) =>
  call(runner, method, params, { id, bot });
const orders = () => world.told.filter((job): job is BotStopping => job.type === 'bot-stopping');
const outcome = async (command: string): Promise<CommandOutcome | undefined> =>
  (await world.answers()).find((answer) => answer.command === command)?.outcome;
const answered = async (command: string) => {
  await until(async () => (await outcome(command)) !== undefined);
  return outcome(command);
};
const connections = () =>
  world.events.flatMap(({ event }) => {
    const { type, data } = JSON.parse(event);
    return type === 'connection' || type === 'error' ? [data] : [];
  });
const database = async () => (await runner.openBots.open('writer')).database;

/** Stops the bot as a client does, with groups that let go of it at once. */
async function stopped(name = 'writer', id: string = randomUUID()) {
  await call(runner, 'bots.stop', { name }, { id });
  await until(() => orders().some(({ command }) => command.id === id));
  const order = orders().find(({ command }) => command.id === id);
  await processOrder(runner, { body: { ...order, type: 'groups-stopped' } });
  return answered(id);
}

it('a stop waits for the groups, then stands: nothing is done by the bot and an abort says so', async () => {
  const id = randomUUID();
  await call(runner, 'bots.stop', bot, { id });
  await until(() => orders().length === 1);
  expect([await outcome(id), isStopped(await database())]).toEqual([undefined, false]);
  await rpc('sessions.list');
  await processOrder(runner, { body: { ...orders()[0], type: 'groups-stopped' } });
  expect(await answered(id)).toMatchObject({
    result: { ok: true, status: { profile: 'writer', state: 'stopped', activeRuns: 0 } },
  });
  expect(connections()).toEqual([{ state: 'stopped', byUser: true }]);
  expect(pendingStops(await database())).toEqual([]);
  const send = { sessionKey: 'desktop:c1', message: 'Hello', idempotencyKey: 'r1' };
  for (const use of [rpc('sessions.list'), rpc('chat.send', send), rpc('provider.list')])
    await expect(use).rejects.toMatchObject({ code: 'PROFILE_STOPPED', retryable: false });
  const abort = randomUUID();
  await rpc('chat.abort', { runId: 'r1' }, abort);
  expect(await answered(abort)).toEqual({ result: { aborted: false } });
});

it('is ordered again until it is done, and told twice stops once', async () => {
  const id = randomUUID();
  await call(runner, 'bots.stop', bot, { id });
  await until(async () => {
    await reconcileBots(runner);
    return orders().length >= 2;
  });
  const done = { body: { ...orders()[0], type: 'groups-stopped' } };
  await processOrder(runner, done);
  await answered(id);
  await call(runner, 'bots.connect', bot);
  await processOrder(runner, done);
  await call(runner, 'bots.stop', bot, { id });
  expect(isStopped(await database())).toBe(false);
  await until(() => connections().length === 3);
  expect(connections().map(({ state }) => state)).toEqual(['stopped', 'starting', 'connected']);
});

it('told again when even its outcome is forgotten, it stops nothing', async () => {
  const command = { id: randomUUID(), gateway: 'gateway-1' };
  const { botId } = await runner.openBots.open('writer');
  await processOrder(runner, { body: { type: 'groups-stopped', bot: 'writer', botId, command } });
  expect(isStopped(await database())).toBe(false);
});

it('what was accepted before the stop is answered the same when it is delivered again', async () => {
  const send = { sessionKey: 'desktop:c1', message: 'Hello', idempotencyKey: 'r1' };
  const id = randomUUID();
  await rpc('chat.send', send, id);
  await stopped();
  await rpc('chat.send', send, id);
  await until(async () => {
    const same = (await world.answers()).filter(({ command }) => command === id);
    return same.length === 2;
  });
  expect(await outcome(id)).toEqual({ result: { runId: 'r1', status: 'accepted' } });
});

it('a stop holds in every runner, and the lists say so', async () => {
  await stopped();
  const other = await world.runner();
  await expect(call(other, 'sessions.list', {}, { bot })).rejects.toMatchObject({
    code: 'PROFILE_STOPPED',
  });
  const list = await call(other, 'bots.list', {});
  const statuses = await call(other, 'bots.statuses', {});
  expect([list, statuses]).toMatchObject([
    { result: { profiles: [{ stoppedByUser: false }, { name: 'writer', stoppedByUser: true }] } },
    { result: { statuses: [{ state: 'connected' }, { profile: 'writer', state: 'stopped' }] } },
  ]);
  const configured = randomUUID();
  await call(other, 'bots.configure', { name: 'writer', displayName: 'W' }, { id: configured });
  expect(await answered(configured)).toMatchObject({
    result: { profile: { stoppedByUser: true } },
  });
});

it('the default bot is stopped for the moment only', async () => {
  expect(await stopped('default')).toMatchObject({
    result: { ok: true, status: { profile: 'default', state: 'connected' } },
  });
  await call(runner, 'sessions.list', {});
  expect(connections()).toEqual([]);
});

it('a stop of a bot that is not there, or not any more, is refused', async () => {
  await expect(call(runner, 'bots.stop', { name: 'nobody' })).rejects.toMatchObject({
    code: 'PROFILE_NOT_FOUND',
  });
  const command = { id: randomUUID(), gateway: 'gateway-1' };
  const gone = { type: 'groups-stopped', bot: 'writer', botId: randomUUID(), command };
  await processOrder(runner, { body: gone });
  expect(await answered(command.id)).toMatchObject({ error: { code: 'PROFILE_NOT_FOUND' } });
  expect(isStopped(await database())).toBe(false);
});

describe('connect', () => {
  const connect = async (params: Record<string, unknown>) => {
    const id = randomUUID();
    await call(runner, 'bots.connect', params, { id });
    return answered(id);
  };

  it('G234: not by its owner’s wish, a stop stays and nothing starts', async () => {
    await stopped();
    const refused = call(runner, 'bots.connect', { name: 'writer', explicit: false });
    await expect(refused).rejects.toMatchObject({ code: 'PROFILE_STOPPED', retryable: false });
    expect([isStopped(await database()), connections().length]).toEqual([true, 1]);
    for (const explicit of [0, null, 'false', true]) {
      await stopped();
      const answer = await connect({ name: 'writer', explicit });
      expect(answer).toMatchObject({ result: { status: { state: 'connected' } } });
    }
    expect(await connect({ name: 'writer', explicit: false })).toHaveProperty('result');
  });

  it('comes after a stop that still waits for its groups: this is done first, and ends nothing later', async () => {
    const send = { sessionKey: 'desktop:c1', message: 'Hello', idempotencyKey: 'r1' };
    await rpc('chat.send', send);
    const id = randomUUID();
    await call(runner, 'bots.stop', bot, { id });
    await until(() => orders().length === 1);
    await connect({ name: 'writer', explicit: false });
    expect(pendingStops(await database())).toHaveLength(1);
    expect(await connect(bot)).toMatchObject({ result: { status: { state: 'connected' } } });
    expect(await outcome(id)).toMatchObject({ result: { ok: true, status: { state: 'stopped' } } });
    expect(findRun(await database(), 'r1')).toMatchObject({ abortRequested: true });
    await processOrder(runner, { body: { ...orders()[0], type: 'groups-stopped' } });
    expect(isStopped(await database())).toBe(false);
  });

  it('fails for a bot without a provider, tells why, and ends the stop nevertheless', async () => {
    await stopped();
    const { folder } = await runner.openBots.open('writer');
    writeFileSync(join(folder, 'config.json'), '{}');
    expect(await connect(bot)).toMatchObject({
      error: { code: 'PROFILE_START_FAILED', retryable: true },
    });
    writeFileSync(join(folder, 'config.json'), 'not JSON');
    expect(await connect(bot)).toMatchObject({
      error: { message: expect.stringMatching(/config\.json/) },
    });
    await until(() => connections().length === 7);
    const told = [{ state: 'starting' }, { message: expect.any(String) }, { state: 'error' }];
    expect(connections().slice(1)).toEqual([...told, ...told]);
    expect(isStopped(await database())).toBe(false);
  });

  it('fails for a bot whose database cannot be opened', async () => {
    await call(runner, 'bots.create', { name: 'broken', provider: 'demo' });
    writeFileSync(join(world.home, 'profiles', 'broken', 'bot.sqlite3'), 'no database');
    expect(await connect({ name: 'broken' })).toMatchObject({
      error: { code: 'PROFILE_START_FAILED' },
    });
    await until(() => connections().length === 3);
    expect(connections()).toMatchObject([{ state: 'starting' }, {}, { state: 'error' }]);
    await expect(call(runner, 'bots.connect', { name: 'nobody' })).rejects.toMatchObject({
      code: 'PROFILE_NOT_FOUND',
    });
  });
});
