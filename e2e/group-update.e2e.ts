import { randomUUID } from 'node:crypto';
import { Gate, getGroup, makeGroup, sendTo, settled } from '@flowly/testing';
import { groupDatabase, readGroupValue, watermarksOf } from './support/group-database';
import { modelsOf, useWorld } from './support/world';
import Database from 'better-sqlite3';

const world = useWorld({ bots: ['writer', 'reviewer'] });

const writerQuiet = { memberPolicies: { writer: 'mentioned' } };
const group = (extra: Record<string, unknown> = {}) =>
  makeGroup(world.client, ['default', 'writer'], extra);
const update = async (roomId: string, changes: Record<string, unknown>) => {
  const definition = { title: 'Council', members: ['default', 'writer'] };
  const { room } = await world.client.call('profiles.rooms.update', {
    roomId,
    ...definition,
    ...changes,
  });
  return room;
};

describe('what an update changes', () => {
  it('X009: title and members alone leave mode and policies; both must be given', async () => {
    const { id } = await group({ ...writerQuiet, mode: 'council' });
    const { client } = world;
    const members = ['writer', 'default'];
    const { room } = await client.call('profiles.rooms.update', {
      roomId: id,
      title: 'T',
      members,
    });
    expect(room).toMatchObject({
      title: 'T',
      members,
      mode: 'council',
      memberPolicies: { default: 'always', writer: 'mentioned' },
    });
    const untitled = await client.refusal('profiles.rooms.update', { roomId: id, members });
    expect(untitled.code).toBe('INVALID_PARAMS');
    const empty = await client.refusal('profiles.rooms.update', { roomId: id, title: 'T' });
    expect(empty.code).toBe('ROOM_MEMBERS_INVALID');
    expect(await getGroup(client, id)).toMatchObject({ title: 'T', members });
  });

  it('G110: policies are rebuilt over the new members', async () => {
    const { id } = await group(writerQuiet);
    const room = await update(id, { members: ['default', 'reviewer'] });
    expect(room.memberPolicies).toEqual({ default: 'always', reviewer: 'always' });
  });

  it('G111: another title leaves them as they are', async () => {
    const { id } = await group(writerQuiet);
    const room = await update(id, { title: 'Renamed' });
    expect(room).toMatchObject({ title: 'Renamed', memberPolicies: { writer: 'mentioned' } });
  });

  it('G101: a policy of somebody who is no member is ignored, and one that is given counts', async () => {
    const { id } = await group();
    const room = await update(id, { memberPolicies: { default: 'mentioned', ghost: 'mentioned' } });
    expect(room.memberPolicies).toEqual({ default: 'mentioned', writer: 'always' });
  });

  it('G109: when both only answer when called, the run of before stays the newest', async () => {
    const { id } = await group();
    await sendTo(world.client, id, '@writer first');
    await settled(world.client, id);
    await update(id, { mode: null, memberPolicies: { default: 'mentioned', writer: 'mentioned' } });
    const room = await sendTo(world.client, id, 'unaddressed');
    expect(room).toMatchObject({ running: false, runState: { state: 'completed' } });
    expect(Object.keys(room.runState?.members ?? {})).toEqual(['writer']);
  });

  it('a change from panel to council holds from the next message on', async () => {
    const { id } = await group();
    await update(id, { mode: 'council' });
    const before = world.models.calls.length;
    world.models.script('default', ['First', '(pass)']);
    world.models.script('writer', ['(pass)']);
    await sendTo(world.client, id, 'Review this');
    const room = await settled(world.client, id);
    expect(room.runState).toMatchObject({ mode: 'council', state: 'completed' });
    const asked = modelsOf(world.models.calls.slice(before));
    expect(asked.slice(0, 2)).toEqual(['default', 'writer']);
  });

  it('moves the group to the top of the list, and tells of it before it answers', async () => {
    const [older] = [await group(), await group()];
    const { mark } = world.client;
    await update(older.id, { title: 'Newest' });
    const told = world.client.groupEvents(older.id, mark);
    expect(told).toMatchObject([{ type: 'updated', room: { title: 'Newest' } }]);
    const { rooms } = await world.client.call('profiles.rooms.list', { includeMessages: false });
    expect(rooms[0]?.id).toBe(older.id);
  });

  it('is kept over a restart of everything', async () => {
    const { id } = await group();
    await update(id, { title: 'Kept', members: ['reviewer', 'default'], mode: 'council' });
    const client = await world.restart();
    expect(await getGroup(client, id)).toMatchObject({
      title: 'Kept',
      members: ['reviewer', 'default'],
      mode: 'council',
    });
  });
});

describe('what an update is refused for', () => {
  it('X010: a busy group is neither updated nor deleted; that is not for trying again', async () => {
    const gate = new Gate();
    const { id } = await group();
    world.models.script('writer', [{ gate: gate.opened, text: 'late' }]);
    await sendTo(world.client, id, '@writer hi');
    const { client } = world;
    const refusals = [
      await client.refusal('profiles.rooms.update', { roomId: id, title: '', members: 'none' }),
      await client.refusal('profiles.rooms.delete', { roomId: id }),
      await client.refusal('profiles.rooms.send', { roomId: id, content: 'again' }),
    ];
    expect(refusals).toMatchObject([
      { code: 'ROOM_BUSY_MEMBERS', retryable: false },
      { code: 'ROOM_BUSY_DELETE', retryable: false },
      { code: 'ROOM_BUSY', retryable: true },
    ]);
    gate.open();
    await settled(client, id);
    expect(await update(id, { title: 'Now' })).toMatchObject({ title: 'Now' });
  });

  it.each(['update', 'delete', 'prepare'])('X007: %s of a group that is none', async (name) => {
    const ask = (roomId: unknown) =>
      world.client.refusal(`profiles.rooms.${name}`, { roomId, title: '', members: 'none' });
    expect((await ask('abc')).code).toBe('ROOM_INVALID');
    expect((await ask(undefined)).code).toBe('ROOM_INVALID');
    expect((await ask(randomUUID())).code).toBe('ROOM_NOT_FOUND');
  });

  it.each(['update', 'delete', 'prepare', 'import'])('X081: %s takes an object', async (name) => {
    const refused = await world.client.refusal(`profiles.rooms.${name}`, [1]);
    expect(refused.code).toBe('INVALID_PARAMS');
  });

  it.each(['update', 'prepare'])('X012: %s looks at includeMessages first', async (name) => {
    const params = { includeMessages: 'no', roomId: 'abc' };
    const refused = await world.client.refusal(`profiles.rooms.${name}`, params);
    expect(refused.code).toBe('INVALID_PARAMS');
  });

  it.each([
    ['a title without words', { title: ' ' }, 'INVALID_PARAMS'],
    ['one member', { members: ['writer'] }, 'ROOM_MEMBERS_TOO_FEW'],
    ['a bot that is not there', { members: ['default', 'nosuch'] }, 'PROFILE_NOT_FOUND'],
    ['an unknown mode', { mode: 'debate' }, 'INVALID_PARAMS'],
    ['G103: an unknown policy', { memberPolicies: { writer: 'whenever' } }, 'INVALID_PARAMS'],
    ['title before members', { title: '', members: 'none' }, 'INVALID_PARAMS'],
    ['members before mode', { members: 'none', mode: 'debate' }, 'ROOM_MEMBERS_INVALID'],
  ])('%s', async (_, changes, code) => {
    const { id } = await group();
    const params = { roomId: id, title: 'Council', members: ['default', 'writer'], ...changes };
    const refused = await world.client.refusal('profiles.rooms.update', params);
    expect(refused).toMatchObject({ code, retryable: false });
    expect((await getGroup(world.client, id)).title).toBe('Council');
  });
});

it('G102: policies that are none read as always and cost nothing', async () => {
  const { id } = await makeGroup(world.client, ['default', 'reviewer']);
  const { home } = world.system;
  for (const stored of ['{"default":"whenever"}', '"nonsense"']) {
    await Promise.all(world.system.instances.map((instance) => instance.kill('SIGTERM')));
    const database = new Database(groupDatabase(home));
    database.prepare('UPDATE rooms SET member_policies_json = ? WHERE id = ?').run(stored, id);
    database.close();
    const client = await world.restart();
    const { memberPolicies } = await getGroup(client, id);
    expect(memberPolicies).toEqual({ default: 'always', reviewer: 'always' });
  }
});

it('a new member is given the newest forty messages of the window', async () => {
  const quiet = { default: 'mentioned', writer: 'mentioned' };
  const { id } = await group({ memberPolicies: quiet });
  for (let n = 0; n < 45; n++) await sendTo(world.client, id, `message-${n}.`);
  await update(id, { members: ['default', 'writer', 'reviewer'] });
  expect(watermarksOf(world.system.home, id)).toMatchObject({ reviewer: 0 });
  await sendTo(world.client, id, '@reviewer catch up');
  await settled(world.client, id);
  const call = world.models.calls.filter(({ model }) => model === 'reviewer').at(-1);
  const prompt = call?.messages.at(-1)?.content ?? '';
  const seen = prompt.match(/message-\d+\./g) ?? [];
  expect([seen.length, seen[0]]).toEqual([39, 'message-6.']);
  expect(readGroupValue(world.system.home, 'SELECT count(*) FROM ext_session_removals')).toBe(0);
});
