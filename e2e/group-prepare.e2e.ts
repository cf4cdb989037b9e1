import { rmSync } from 'node:fs';
import path from 'node:path';
import { groupErrorCodes, groupCapabilities } from '@flowly/contract';
import { Gate, getGroup, makeGroup, sendTo, settled } from '@flowly/testing';
import { modelsOf, useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });
const HOST = expect.any(String);

const prepare = async (roomId: string, extra: Record<string, unknown> = {}) =>
  (await world.client.call('profiles.rooms.prepare', { roomId, ...extra })).room;

it('G006: two at once are answered the same; a bot without a key is in error', async () => {
  await world.client.call('profiles.create', { name: 'keyless', cloneFrom: null });
  const { id } = await makeGroup(world.client, ['default', 'keyless']);
  const { mark } = world.client;
  const [first, second] = await Promise.all([prepare(id), prepare(id)]);
  expect(second).toEqual(first);
  expect(first.readiness['default']).toMatchObject({ state: 'ready', error: '' });
  expect(first.readiness['keyless']?.state).toBe('error');
  expect(first.readiness['keyless']?.error).toMatch(/\w/);
  const told = world.client.groupEvents(id, mark).filter(({ type }) => type === 'readiness');
  expect(told.length).toBeGreaterThanOrEqual(1);
  expect(told.at(-1)?.room?.readiness).toEqual(first.readiness);
  expect(world.models.calls).toEqual([]);
  expect(await getGroup(world.client, id)).toMatchObject({ readiness: first.readiness });
});

it('a member is looked at again each time', async () => {
  const { client, models } = world;
  await client.call('profiles.create', { name: 'later', cloneFrom: null });
  const { id } = await makeGroup(client, ['default', 'later']);
  expect((await prepare(id)).readiness['later']?.state).toBe('error');
  await client.call('profiles.configure', {
    name: 'later',
    provider: 'vllm',
    model: 'later',
    credential: { provider: 'vllm', apiBase: models.apiBase, apiKey: 'sk-test' },
  });
  expect((await prepare(id)).readiness['later']).toMatchObject({ state: 'ready', error: '' });
});

it('leaves messages out when they are not wanted', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  expect(await prepare(id, { includeMessages: false })).not.toHaveProperty('messages');
  expect(await prepare(id)).toHaveProperty('messages', []);
});

it('delays no other call of the client, and a turn that runs goes on', async () => {
  const { client } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  const gate = new Gate();
  world.models.script('writer', [{ gate: gate.opened, text: 'late' }]);
  const order: string[] = [];
  const note = (what: string) => () => void order.push(what);
  const many = Array.from({ length: 20 }, () => prepare(id).then(note('prepare')));
  const sent = sendTo(client, id, '@writer hi').then(note('send'));
  await Promise.all([sent, ...many]);
  expect(order.indexOf('send')).toBeLessThan(20);
  const room = await prepare(id);
  expect(room).toMatchObject({ running: true, readiness: { writer: { state: 'ready' } } });
  gate.open();
  const end = await settled(client, id);
  expect(end.runState?.state).toBe('completed');
  expect(modelsOf(world.models.calls)).toEqual(['writer']);
});

it('a member whose bot is gone fails alone, here and when it is asked', async () => {
  const { client, system } = world;
  await world.makeBot('leaver');
  const { id } = await makeGroup(client, ['writer', 'leaver']);
  const before = (await prepare(id)).readiness;
  expect(Object.values(before).map(({ state }) => state)).toEqual(['ready', 'ready']);
  rmSync(path.join(system.home, 'profiles', 'leaver'), { recursive: true });
  const { readiness } = await prepare(id);
  expect(readiness['writer']?.state).toBe('ready');
  expect(readiness['leaver']).toMatchObject({
    state: 'error',
    error: 'This bot no longer exists.',
    updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  await sendTo(client, id, 'Hello everyone');
  const room = await settled(client, id);
  expect(room.runState).toMatchObject({
    state: 'partial',
    members: { writer: { state: 'completed' }, leaver: { state: 'failed' } },
  });
  expect(room.readiness).toMatchObject({ writer: { state: 'ready' }, leaver: { state: 'error' } });
});

it('with two orchestrators all callers are answered the same, and it is told once', async () => {
  const { system } = world;
  await system.add('group-orchestrator');
  await system.ready();
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  const watcher = await world.connect();
  await watcher.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  const clients = await Promise.all([1, 2, 3, 4].map(() => world.connect()));
  const asked = clients.map((client) => client.call('profiles.rooms.prepare', { roomId: id }));
  const [first, ...others] = (await Promise.all(asked)).map(({ room }) => room);
  expect(first?.readiness).toMatchObject({
    default: { state: 'ready' },
    writer: { state: 'ready' },
  });
  for (const room of others) expect(room).toEqual(first);
  await watcher.call('profiles.rooms.get', { roomId: id });
  const told = watcher.groupEvents(id).filter(({ type }) => type === 'readiness');
  expect(told.map(({ profile }) => profile)).toEqual([undefined, 'default', 'writer']);
});

it('G191, G114: the capabilities of groups are there whole, in both places', async () => {
  const { client } = world;
  const { rooms, methods } = await client.call('profiles.capabilities');
  expect(rooms).toEqual({
    modes: ['panel', 'council'],
    maxMembers: 6,
    councilRounds: 3,
    councilTurns: 10,
    summaries: true,
    historyPagination: { defaultPageSize: 50, maxPageSize: 100, cursor: 'opaque-v2' },
    retention: { model: 'retain-beyond-window', liveWindow: 1000, durableHistory: true },
    usage: { tokens: true, cost: 'catalog-priced', memberBreakdown: 24 },
    memberPolicies: {
      values: ['always', 'mentioned'],
      default: 'always',
      everyoneOverrides: true,
      silentWhenNoneAlways: true,
    },
    errorCodes: [...groupErrorCodes],
    roomEvents: ['full-v1', 'delta-v1'],
    storage: 'sqlite-wal',
    legacyJsonMigration: 'verified-copy-preserve-source',
  });
  expect(Object.keys(groupCapabilities)).toEqual(Object.keys(rooms as object));
  const system = await client.call('system.capabilities');
  expect(system).toMatchObject({ profileHost: { hostId: HOST, rooms } });
  const built = ['list', 'get', 'history', 'create', 'update', 'delete', 'prepare', 'send', 'stop'];
  const names = [...built, 'import', 'approval.resolve', 'clarify.resolve', 'storage'];
  expect(methods).toEqual(expect.arrayContaining(names.map((name) => `profiles.rooms.${name}`)));
});
