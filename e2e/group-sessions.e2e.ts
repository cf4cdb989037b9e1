import { randomUUID } from 'node:crypto';
import { getGroup, makeGroup, sendTo, settled, until, type Client } from '@flowly/testing';
import { readGroupValue, watermarksOf } from './support/group-database';
import { leaveSession, privateSessions } from './support/private-sessions';
import { useWorld } from './support/world';

/** Members that go, and groups that go: what is left of them at the bots. */
const world = useWorld({ bots: ['writer', 'reviewer'], limits: { reconcileMs: 300 } });

const answered = async (client: Client, groupId: string, content: string) => {
  await sendTo(client, groupId, content);
  return settled(client, groupId);
};
const members = async (client: Client, roomId: string, names: string[]) => {
  const params = { roomId, title: 'Council', members: names };
  return (await client.call('profiles.rooms.update', params)).room;
};
const sessionsOf = (bot: string) => privateSessions(world.system.home, bot);
const gone = (bot: string, groupId: string) =>
  until(
    () => !sessionsOf(bot).includes(groupId),
    10_000,
    () => `${bot} still has a session of the group`,
  );
const pending = () =>
  readGroupValue(world.system.home, 'SELECT count(*) FROM ext_session_removals');

it('nothing is left of a removed member, and it starts clean when it comes back', async () => {
  const { client, models } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  models.script('writer', ['A first answer']);
  await answered(client, id, '@writer one');
  expect(sessionsOf('writer')).toContain(id);
  const asked = models.calls.length;
  const without = await members(client, id, ['default', 'reviewer']);
  expect(without.runState?.members).toEqual({});
  expect(without.readiness).not.toHaveProperty('writer');
  await gone('writer', id);
  await until(() => pending() === 0, 10_000, 'the removal is not noted as done');
  expect(models.calls).toHaveLength(asked);
  const back = await members(client, id, ['default', 'writer']);
  expect(back.readiness['writer']?.state).toBe('idle');
  expect(watermarksOf(world.system.home, id)).toEqual({ default: 0, writer: 0 });
  await answered(client, id, '@writer two');
  const call = models.calls.at(-1);
  expect(call?.messages.filter(({ role }) => role !== 'system')).toHaveLength(1);
  expect(JSON.stringify(call?.messages)).not.toContain('A first answer');
});

it('also when the runner is away meanwhile and the member is back before it', async () => {
  const { client, models, system } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  models.script('writer', ['An old answer']);
  await answered(client, id, '@writer one');
  await system.service('bot-runner').kill();
  await members(client, id, ['default', 'reviewer']);
  await members(client, id, ['default', 'writer']);
  await sendTo(client, id, '@writer two');
  system.service('bot-runner').start();
  await settled(client, id);
  const call = models.calls.at(-1);
  expect(JSON.stringify(call?.messages)).not.toContain('An old answer');
  await until(() => pending() === 0, 10_000, 'the removal is not noted as done');
  expect(sessionsOf('writer')).toContain(id);
  await answered(client, id, '@writer three');
  expect(models.calls.at(-1)?.messages.filter(({ role }) => role === 'assistant')).toHaveLength(1);
});

describe('a deleted group', () => {
  it('is gone for everybody, with its private sessions, and no model is asked', async () => {
    const { client, models } = world;
    const { id } = await makeGroup(client, ['default', 'writer']);
    const other = await makeGroup(client, ['default', 'writer']);
    await answered(client, id, 'Hello everyone');
    await answered(client, other.id, 'Hello everyone');
    const watcher = await world.connect();
    await watcher.call('profiles.rooms.list', {});
    const asked = models.calls.length;
    const answer = await client.call('profiles.rooms.delete', { roomId: id });
    expect(answer).toEqual({ hostId: expect.any(String), ok: true });
    const event = await watcher.waitForGroup(id, ({ type }) => type === 'deleted');
    expect(Object.keys(event).sort()).toEqual(['hostId', 'roomId', 'type']);
    await gone('default', id);
    await gone('writer', id);
    expect(sessionsOf('writer')).toContain(other.id);
    expect(models.calls).toHaveLength(asked);
    for (const method of ['get', 'send', 'delete', 'history', 'stop']) {
      const params = { roomId: id, content: 'Hello' };
      const refused = await client.refusal(`profiles.rooms.${method}`, params);
      expect(refused.code).toBe('ROOM_NOT_FOUND');
    }
    const { rooms } = await client.call('profiles.rooms.list', { includeMessages: false });
    expect(rooms.map((room) => room.id)).not.toContain(id);
    expect((await getGroup(client, other.id)).messageCount).toBe(3);
  });

  it('right after a stop: the turn that was stopped leaves no session behind', async () => {
    const { client, models } = world;
    const { id } = await makeGroup(client, ['default', 'writer']);
    models.script('writer', [{ text: 'a b c d e f g h', tokenDelayMs: 200 }]);
    const asked = models.calls.length;
    await sendTo(client, id, '@writer hi');
    await models.waitForCalls(asked + 1);
    await client.call('profiles.rooms.stop', { roomId: id });
    await client.call('profiles.rooms.delete', { roomId: id });
    await gone('writer', id);
    await until(() => pending() === 0, 10_000, 'the removal is not noted as done');
    expect(sessionsOf('writer')).not.toContain(id);
  });

  it('while the runner is away: its sessions go when it is back', async () => {
    const { client, system } = world;
    const { id } = await makeGroup(client, ['default', 'writer']);
    await answered(client, id, '@writer one');
    await system.service('bot-runner').kill();
    await client.call('profiles.rooms.delete', { roomId: id });
    await system.service('group-orchestrator').kill();
    expect(sessionsOf('writer')).toContain(id);
    for (const name of ['bot-runner', 'group-orchestrator'] as const) system.service(name).start();
    await system.ready();
    await gone('writer', id);
    await until(() => pending() === 0, 10_000, 'the removal is not noted as done');
  });
});

it('sessions whose group is gone or no longer has that bot are found at the start', async () => {
  const { client } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  await answered(client, id, '@writer one');
  const stray = randomUUID();
  leaveSession(world.system.home, 'writer', stray);
  leaveSession(world.system.home, 'reviewer', id);
  await world.restart();
  await gone('writer', stray);
  await gone('reviewer', id);
  expect(sessionsOf('writer')).toContain(id);
});
