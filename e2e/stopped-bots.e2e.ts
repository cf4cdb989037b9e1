import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import path from 'node:path';
import type { BotDescriptor, BotEvent } from '@flowly/contract';
import { Gate, getGroup, makeGroup, sendTo, settled, until, type Client } from '@flowly/testing';
import { Conversation } from './support/conversation';
import { privateSessions } from './support/private-sessions';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { useWorld } from './support/world';

/** Bots that their owner stops and connects again, at rest and at work, whoever dies meanwhile. */
const world = useWorld({ bots: ['writer', 'reviewer'], limits: QUICK_CLOCKS });

const stop = (name = 'writer', client = world.client) => client.call('profiles.stop', { name });
const connect = (name = 'writer') => world.client.call('profiles.connect', { name });
const described = async (name = 'writer'): Promise<BotDescriptor> => {
  const { profiles } = await world.client.call('profiles.list');
  const found = profiles.find((profile) => profile.name === name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
};
const statusOf = async (name: string) => {
  const { statuses } = await world.client.call('profiles.statuses');
  return statuses.find(({ profile }) => profile === name);
};
const rpc = (method: string, params: object = {}, name = 'writer') => ({ name, method, params });
const told = (client: Client, type: BotEvent['type'], since = 0) =>
  client.events
    .slice(since)
    .flatMap(({ event, data }) => (event === 'profile.event' && data?.type === type ? [data] : []));

afterEach(async () => {
  for (const name of ['writer', 'reviewer']) await connect(name);
});

it('G223 G247: a stop is in the list until the bot is connected, and both are told', async () => {
  const { client } = world;
  const { botId } = await described();
  const watcher = await world.connect();
  const { hostId } = await watcher.call('profiles.list');
  expect(await stop()).toMatchObject({ ok: true, status: { profile: 'writer', state: 'stopped' } });
  expect((await described()).stoppedByUser).toBe(true);
  expect(await statusOf('writer')).toMatchObject({ state: 'stopped', activeRuns: 0 });
  expect(await connect()).toMatchObject({ status: { profile: 'writer', state: 'connected' } });
  expect((await described()).stoppedByUser).toBe(false);
  const about = { hostId, botId, profile: 'writer', type: 'connection' };
  for (const each of [client, watcher]) {
    const events = () => told(each, 'connection').filter(({ profile }) => profile === 'writer');
    await until(() => events().length === 3, 5_000, 'the bot was not told of');
    expect(events()).toEqual([
      { ...about, data: { state: 'stopped', byUser: true } },
      { ...about, data: { state: 'starting' } },
      { ...about, data: { state: 'connected' } },
    ]);
  }
});

it('G233: what is stopped answers nothing, its groups say so, and a connect ends that', async () => {
  const { client, models } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  await stop();
  expect(await client.refusal('profiles.rpc', rpc('sessions.list'))).toMatchObject({
    code: 'PROFILE_STOPPED',
    retryable: false,
  });
  const prepare = async () =>
    (await client.call('profiles.rooms.prepare', { roomId: id })).room.readiness;
  expect(await prepare()).toMatchObject({
    default: { state: 'ready' },
    writer: { state: 'error', error: expect.stringMatching(/stopped/) },
  });
  const asked = models.callsOf('writer').length;
  await sendTo(client, id, 'Hello everyone');
  const { runState, readiness, messages } = await settled(client, id);
  expect(runState).toMatchObject({
    state: 'partial',
    members: {
      default: { state: 'completed' },
      writer: { state: 'failed', error: expect.stringMatching(/stopped/) },
    },
  });
  expect(readiness['writer']).toMatchObject({ state: 'error' });
  expect(messages?.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(models.callsOf('writer')).toHaveLength(asked);
  await connect();
  expect((await described()).stoppedByUser).toBe(false);
  expect(await prepare()).toMatchObject({ writer: { state: 'ready' } });
  await sendTo(client, id, '@writer again');
  expect((await settled(client, id)).runState?.state).toBe('completed');
});

it('G234: a connect that is not its owner’s wish leaves it stopped', async () => {
  await stop();
  const refused = await world.client.refusal('profiles.connect', {
    name: 'writer',
    explicit: false,
  });
  expect(refused.code).toBe('PROFILE_STOPPED');
  expect((await described()).stoppedByUser).toBe(true);
  expect((await world.client.refusal('profiles.rpc', rpc('provider.list'))).code).toBe(
    'PROFILE_STOPPED',
  );
});

it('G171: a group with a stopped bot is deleted with its private session, and no model is asked', async () => {
  const { client, models, system } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  await sendTo(client, id, 'Hello everyone');
  await settled(client, id);
  expect(privateSessions(system.home, 'writer')).toContain(id);
  await stop();
  const asked = models.calls.length;
  const answer = await client.call('profiles.rooms.delete', { roomId: id });
  expect(answer).toEqual({ hostId: expect.any(String), ok: true });
  const isGone = () => !privateSessions(system.home, 'writer').includes(id);
  await until(isGone, 10_000, 'writer still has a session of the group');
  expect((await described()).stoppedByUser).toBe(true);
  expect(models.calls).toHaveLength(asked);
});

it('a bot at work is stopped with its groups and its conversations, and stays so after a restart', async () => {
  const { client, models, system } = world;
  const gate = new Gate();
  models.script('writer', [{ text: ['so far', gate.opened] }]);
  const group = await makeGroup(client, ['writer', 'reviewer']);
  const other = await makeGroup(client, ['reviewer', 'default']);
  const chat = new Conversation(client, `ios:${randomUUID()}`, 'rpc', 'writer');
  await Promise.all([sendTo(client, group.id, '@writer hi'), sendTo(client, other.id, 'Hello')]);
  const { runId: first } = await chat.send('one');
  const { runId: second } = await chat.send('two');
  await chat.shows(first, 'so far');
  await shows(group.id, 'writer', 'so far');
  expect(await statusOf('writer')).toMatchObject({ state: 'connected', activeRuns: 3 });
  const { status } = await stop();
  expect(status.state).toBe('stopped');
  const stopped = await getGroup(client, group.id);
  expect(stopped).toMatchObject({ running: false, runState: { state: 'aborted' } });
  expect(stopped.messages?.at(-1)).toMatchObject({ content: 'so far', aborted: true });
  const ends = [await chat.terminal(first), await chat.terminal(second)];
  expect(ends).toMatchObject([
    { state: 'final', aborted: true, message: { content: [{ text: 'so far' }] } },
    { state: 'final', aborted: true, message: { content: [{ text: '' }] } },
  ]);
  expect((await settled(client, other.id)).runState?.state).toBe('completed');
  expect(await chat.abort(first)).toEqual({ aborted: false });
  const asked = models.callsOf('writer').length;
  gate.open();
  await Promise.all([
    system.service('bot-runner').kill('SIGTERM'),
    system.service('group-orchestrator').kill('SIGTERM'),
  ]);
  system.service('bot-runner').start();
  system.service('group-orchestrator').start();
  await system.ready();
  expect((await client.refusal('profiles.rpc', rpc('sessions.list'))).code).toBe('PROFILE_STOPPED');
  expect(models.callsOf('writer')).toHaveLength(asked);
  await connect();
  models.script('writer', ['Here again']);
  expect(await chat.terminal((await chat.send('three')).runId)).not.toHaveProperty('aborted');
});

it('the default bot is stopped for the moment: its turns end, and it goes on answering', async () => {
  const { client, models } = world;
  const gate = new Gate();
  models.script('default', [{ text: ['so far', gate.opened] }, 'Here still']);
  const chat = new Conversation(client, `desktop:${randomUUID()}`, 'straight');
  const { runId } = await chat.send('one');
  await chat.shows(runId, 'so far');
  expect(await stop('default')).toMatchObject({ ok: true, status: { state: 'connected' } });
  expect(await chat.terminal(runId)).toMatchObject({ aborted: true });
  expect(await chat.terminal((await chat.send('two')).runId)).not.toHaveProperty('aborted');
  expect((await described('default')).stoppedByUser).toBe(false);
  gate.open();
});

it('a stop is carried to its end when the runner and the orchestrator die in the middle of it', async () => {
  const { client, models, system } = world;
  const gate = new Gate();
  models.script('reviewer', [{ text: ['so far', gate.opened] }]);
  const { id } = await makeGroup(client, ['reviewer', 'default']);
  await sendTo(client, id, '@reviewer hi');
  await shows(id, 'reviewer', 'so far');
  const [runner, orchestrator] = [
    system.service('bot-runner'),
    system.service('group-orchestrator'),
  ];
  const lock = holdGroups();
  const stopping = stop('reviewer');
  await until(() => isStopping('reviewer'), 5_000, 'the stop was not taken');
  await Promise.all([runner.kill(), orchestrator.kill()]);
  lock.release();
  orchestrator.start();
  runner.start();
  expect(await stopping).toMatchObject({ ok: true, status: { state: 'stopped' } });
  const { runState, messages } = await getGroup(client, id);
  expect(runState?.state).toBe('aborted');
  expect(messages?.filter(({ role }) => role === 'assistant')).toMatchObject([{ aborted: true }]);
  await until(
    async () => (await statusOf('reviewer'))?.activeRuns === 0,
    10_000,
    'its turn has not ended',
  );
  expect(isStopping('reviewer')).toBe(false);
  gate.open();
});

/** Waits until a member's text in its group is this. */
async function shows(groupId: string, member: string, text: string): Promise<void> {
  const shown = async () => (await getGroup(world.client, groupId)).streams[member];
  await until(async () => (await shown()) === text, 10_000, 'the group shows something else');
}

/** Nobody else decides anything about groups until it is released. */
function holdGroups(): { release: () => void } {
  const database = new Database(path.join(world.system.home, 'profile-rooms.sqlite3'));
  database.exec('BEGIN IMMEDIATE');
  return {
    release: () => {
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

/** Whether a stop of the bot waits for its groups. */
function isStopping(bot: string): boolean {
  const file = path.join(world.system.home, 'profiles', bot, 'bot.sqlite3');
  const database = new Database(file, { readonly: true });
  try {
    const waiting = database.prepare("SELECT value FROM settings WHERE key = 'stopping'").pluck();
    return ![undefined, '[]'].includes(waiting.get()?.toString());
  } finally {
    database.close();
  }
}
