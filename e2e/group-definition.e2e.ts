import { statSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { makeGroup } from '@flowly/testing';
import { groupDatabase } from './support/group-database';
import { useWorld } from './support/world';

const GROUPS = 12;
const world = useWorld({ bots: ['writer', 'reviewer'], limits: { groups: GROUPS } });

const create = (definition: Record<string, unknown>) =>
  world.client.refusal('profiles.rooms.create', { title: 'Council', ...definition });

describe('G002: a definition that does not hold is refused and nothing starts', () => {
  it.each([
    [
      'too few members',
      { title: 'Solo', members: ['writer'] },
      'ROOM_MEMBERS_TOO_FEW',
      /at least two/i,
    ],
    [
      'an unknown member',
      { members: ['default', 'unknown'] },
      'PROFILE_NOT_FOUND',
      /no longer exists/i,
    ],
    ['no title', { title: '', members: ['default', 'writer'] }, 'INVALID_PARAMS', /name/i],
    [
      'an unknown mode',
      { members: ['default', 'writer'], mode: 'debate' },
      'INVALID_PARAMS',
      /panel or council/i,
    ],
  ])('%s', async (_, definition, code, text) => {
    const refused = await create(definition);
    expect(refused).toMatchObject({ code, retryable: false });
    expect(refused.said).toMatch(text);
    expect(world.models.calls).toEqual([]);
  });
});

it.each([
  ['members are no list', { members: 'default' }, 'ROOM_MEMBERS_INVALID'],
  ['a member is no text', { members: ['default', 7] }, 'INVALID_PARAMS'],
  ['a member is no bot name', { members: ['default', 'No Name'] }, 'ROOM_MEMBERS_INVALID'],
  ['seven members', { members: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }, 'INVALID_PARAMS'],
  [
    'a title of 81 characters',
    { title: 'x'.repeat(81), members: ['default', 'writer'] },
    'INVALID_PARAMS',
  ],
  ['a title with NUL', { title: 'a\0b', members: ['default', 'writer'] }, 'INVALID_PARAMS'],
])('refuses when %s', async (_, definition, code) => {
  expect(await create(definition)).toMatchObject({ code });
});

it.each([[{ default: 'whenever' }], [['default']], [{ default: true }]])(
  'G103: refuses the policies %j',
  async (memberPolicies) => {
    const refused = await create({ members: ['default', 'writer'], memberPolicies });
    expect(refused.code).toBe('INVALID_PARAMS');
  },
);

it('X003: a member twice counts once, in the order of its first', async () => {
  expect(await create({ members: ['default', 'default'] })).toMatchObject({
    code: 'ROOM_MEMBERS_TOO_FEW',
  });
  const group = await makeGroup(world.client, ['writer', 'default', 'writer']);
  expect(group.members).toEqual(['writer', 'default']);
});

it('X005: a name that no bot has', async () => {
  expect(await create({ members: ['default', 'nosuch'] })).toMatchObject({
    code: 'PROFILE_NOT_FOUND',
  });
});

it('X012: includeMessages is looked at before anything else', async () => {
  for (const method of ['profiles.rooms.list', 'profiles.rooms.get', 'profiles.rooms.create']) {
    const refused = await world.client.refusal(method, { includeMessages: 'no', roomId: 'abc' });
    expect(refused.code).toBe('INVALID_PARAMS');
  }
  const refused = await world.client.refusal('profiles.rooms.list', { includeMessages: null });
  expect(refused.code).toBe('INVALID_PARAMS');
});

it.each(['get', 'send', 'stop', 'history'])('X007: %s of a group that is none', async (name) => {
  const ask = (roomId: unknown) =>
    world.client.refusal(`profiles.rooms.${name}`, { roomId, content: 'Hello' });
  expect((await ask('abc')).code).toBe('ROOM_INVALID');
  expect((await ask(undefined)).code).toBe('ROOM_INVALID');
  expect((await ask(randomUUID())).code).toBe('ROOM_NOT_FOUND');
});

it.each(['list', 'get', 'history', 'create', 'send', 'stop'])(
  'X081: %s takes an object',
  async (name) => {
    expect((await world.client.refusal(`profiles.rooms.${name}`, [1])).code).toBe('INVALID_PARAMS');
  },
);

it('takes a group id in any spelling of a UUID', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  const spellings = [id.toUpperCase(), `{${id}}`, `urn:uuid:${id}`, id.replaceAll('-', '')];
  for (const roomId of spellings) {
    const { room } = await world.client.call('profiles.rooms.get', { roomId });
    expect(room.id).toBe(id);
  }
});

it('X011: the group that changed last comes first', async () => {
  const groups = [];
  for (const title of ['one', 'two', 'three'])
    groups.push(
      await makeGroup(world.client, ['default', 'writer'], {
        title,
        memberPolicies: { default: 'mentioned', writer: 'mentioned' },
      }),
    );
  await world.client.call('profiles.rooms.send', { roomId: groups[0]?.id, content: 'nobody' });
  const { rooms } = await world.client.call('profiles.rooms.list', { includeMessages: false });
  expect(rooms.slice(0, 3).map(({ title }) => title)).toEqual(['one', 'three', 'two']);
  const times = rooms.map(({ updatedAt }) => updatedAt);
  expect(times).toEqual([...times].sort().reverse());
});

it('G104: a policy of somebody who is no member is ignored', async () => {
  const group = await makeGroup(world.client, ['default', 'reviewer'], {
    memberPolicies: { writer: 'mentioned' },
  });
  expect(group.memberPolicies).toEqual({ default: 'always', reviewer: 'always' });
});

it('G001, G113: a group is as it was made, also after a restart', async () => {
  const members = ['default', 'writer'];
  const made = await makeGroup(world.client, members, { memberPolicies: { writer: 'mentioned' } });
  expect(made).toMatchObject({
    title: 'Council',
    members,
    mode: 'panel',
    messages: [],
    messageCount: 0,
    latestMessage: null,
    runState: null,
    usage: null,
  });
  expect(made.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(statSync(groupDatabase(world.system.home)).mode & 0o777).toBe(0o600);
  const before = await world.client.call('profiles.rooms.list');

  const client = await world.restart();

  const after = await client.call('profiles.rooms.list');
  expect(after.rooms.map(({ id }) => id)).toEqual(before.rooms.map(({ id }) => id));
  const found = after.rooms.find(({ id }) => id === made.id);
  expect(found).toMatchObject({ title: 'Council', members, messages: [] });
  expect(found?.memberPolicies).toEqual({ default: 'always', writer: 'mentioned' });
});

it('ROOM_LIMIT comes before every other check of a definition', async () => {
  const { rooms } = await world.client.call('profiles.rooms.list', { includeMessages: false });
  for (let count = rooms.length; count < GROUPS; count++)
    await makeGroup(world.client, ['default', 'writer']);
  expect(await create({ members: ['default', 'writer'] })).toMatchObject({ code: 'ROOM_LIMIT' });
  expect(await create({ title: '', members: [] })).toMatchObject({ code: 'ROOM_LIMIT' });
});

it('the shape of an idempotency key is looked at first', async () => {
  const { rooms } = await world.client.call('profiles.rooms.list', { includeMessages: false });
  const roomId = rooms[0]?.id;
  const keyed = (idempotencyKey: string) =>
    world.client.refusal('profiles.rooms.send', { roomId, content: 'Hello', idempotencyKey });
  expect((await keyed(' outer')).code).toBe('INVALID_PARAMS');
  expect((await keyed('x'.repeat(129))).code).toBe('INVALID_PARAMS');
});
