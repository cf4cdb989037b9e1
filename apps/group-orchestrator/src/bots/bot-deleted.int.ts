import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findSend } from '@flowly/store';
import { accepted, GroupWorld, until } from '../orchestrator.harness';
import { stepAccepted } from '../turns/step-accepted';
import { botDeleted } from './bot-deleted';

const BOT_ID = 'the id of writer';
const GONE = { type: 'bot-deleted', bot: 'writer', botId: BOT_ID } as const;
const LEFT = { type: 'bot-left', bot: 'writer', botId: BOT_ID };

let world: GroupWorld;
beforeEach(async () => {
  world = await GroupWorld.start();
  world.leaving.add(`writer ${BOT_ID}`);
});
afterEach(() => world.stop());

const leave = () => botDeleted(world.orchestrator, GONE);
const told = () => until(() => world.leaves.length > 0);
const groups = () => world.store.read((reader) => reader.listGroups());
const eventsOf = (groupId: string) =>
  world.events.filter((event) => event.groupId === groupId).map(({ type }) => type);

it('G112: the others keep everything, of the bot nothing is left', async () => {
  const group = await world.create(['default', 'writer', 'reviewer']);
  const policies = { default: 'always', writer: 'mentioned', reviewer: 'mentioned' };
  const params = { roomId: group, title: 'Council', members: Object.keys(policies) };
  await world.command('groups.update', { ...params, memberPolicies: policies });
  const before = await world.record(group);
  await leave();
  await told();
  expect(world.leaves).toEqual([LEFT]);
  const after = await world.record(group);
  expect(after).toMatchObject({
    members: ['default', 'reviewer'],
    policies: { default: 'always', reviewer: 'mentioned' },
    watermarks: { default: 0, reviewer: 0 },
    title: before.title,
    mode: before.mode,
  });
  expect(after.watermarks).not.toHaveProperty('writer');
  await until(() => world.events.at(-1)?.room?.members.length === 2);
  expect(eventsOf(group).at(-1)).toBe('updated');
  // Its own session goes with it, so no removal is ordered.
  expect(world.sessionOrders).toEqual([]);
});

it('X013: a group that is left with one member is deleted with its files and sessions', async () => {
  const group = await world.create();
  const other = await world.create(['default', 'reviewer']);
  const attachments = [{ fileName: 'a.bin', mimeType: 'x/y', content: 'AAAA' }];
  const params = { roomId: group, content: 'See', attachments, idempotencyKey: 'key' };
  await world.command('groups.send', params);
  await world.command('groups.stop', { roomId: group });
  const [message] = (await world.get(group)).messages ?? [];
  const file = join(world.home, 'media', message?.attachments?.[0]?.mediaId ?? 'none');
  expect(existsSync(file)).toBe(true);
  await leave();
  await told();
  expect(existsSync(file)).toBe(false);
  expect((await groups()).map(({ id }) => id)).toEqual([other]);
  await until(() => eventsOf(group).at(-1) === 'deleted');
  await until(() => world.sessionOrders.length > 0);
  expect(world.sessionOrders).toMatchObject([
    { type: 'remove-session', groupId: group, bot: 'default' },
  ]);
  expect(findSend(world.store.database, group, 'key')).toBeNull();
});

it('every running group it is in is stopped first, at work in it or not', async () => {
  const working = await world.create(['default', 'writer', 'reviewer']);
  const idle = await world.create(['default', 'writer', 'reviewer']);
  const foreign = await world.create(['default', 'reviewer']);
  const given = await world.send(working, '@writer one');
  await stepAccepted(world.orchestrator, accepted(given, 'writer'));
  await world.write(given, 'writer', 'so far');
  await world.send(idle, '@default two');
  await world.send(foreign, '@default three');
  await leave();
  await told();
  const stopped = await world.get(working);
  expect(stopped).toMatchObject({ running: false, runState: { state: 'aborted', members: {} } });
  expect(stopped.messages?.at(-1)).toMatchObject({ content: 'so far', aborted: true });
  expect((await world.get(idle)).runState).toMatchObject({
    state: 'aborted',
    members: { default: { state: 'aborted' } },
  });
  expect((await world.get(foreign)).running).toBe(true);
  await until(() => eventsOf(working).at(-1) === 'updated');
  expect(eventsOf(working).at(-2)).toBe('run-state');
  const aborts = () => world.orders.filter(({ type }) => type === 'abort');
  await until(() => aborts().length === 2);
  expect(
    aborts()
      .map(({ bot }) => bot)
      .sort(),
  ).toEqual(['default', 'writer']);
});

it('told again, it changes nothing and is answered again', async () => {
  const group = await world.create(['default', 'writer', 'reviewer']);
  await leave();
  const { rowRevision } = await world.record(group);
  await leave();
  await until(() => world.leaves.length > 0);
  expect((await world.record(group)).rowRevision).toBe(rowRevision);
});

it('of a bot that is gone, whose name another has, nothing is done', async () => {
  const group = await world.create();
  world.leaving.clear();
  await leave();
  await world.orchestrator.relay.drain();
  expect((await world.record(group)).members).toEqual(['default', 'writer']);
  expect(world.leaves).toEqual([]);
});

it('a group that begins to run again meanwhile is stopped again', async () => {
  const group = await world.create(['default', 'writer', 'reviewer']);
  await world.send(group, '@writer one');
  const leaving = leave();
  const sending = world.command('groups.send', { roomId: group, content: '@default two' });
  await Promise.allSettled([leaving, sending]);
  await leave();
  expect((await world.record(group)).members).toEqual(['default', 'reviewer']);
});

it('what it cannot leave now it leaves later, and it is not said before that it has left', async () => {
  const held = await world.create(['default', 'writer', 'reviewer']);
  const free = await world.create(['default', 'writer', 'reviewer']);
  const { database } = world.store;
  database.exec(`CREATE TEMP TRIGGER hold BEFORE UPDATE ON main.rooms WHEN OLD.id = '${held}'
    BEGIN SELECT RAISE(ABORT, 'no'); END`);
  await expect(leave()).rejects.toMatchObject({ code: 'ROOM_STORE_INVALID' });
  expect((await world.record(free)).members).toEqual(['default', 'reviewer']);
  expect((await world.record(held)).members).toContain('writer');
  await world.orchestrator.relay.drain();
  expect(world.leaves).toEqual([]);
  database.exec('DROP TRIGGER hold');
  await leave();
  await told();
  expect((await world.record(held)).members).toEqual(['default', 'reviewer']);
});
