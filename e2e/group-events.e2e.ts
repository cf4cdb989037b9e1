import type { GroupEvent } from '@flowly/contract';
import {
  Gate,
  GroupModel,
  makeGroup,
  sendTo,
  settled,
  wholeHistory,
  type Client,
} from '@flowly/testing';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });

const quiet = { memberPolicies: { default: 'mentioned', writer: 'mentioned' } };
const groupFrames = (client: Client) =>
  client.events.filter(({ event }) => event === 'profile.room');
const isEnd = ({ type, room }: GroupEvent) => type === 'run-state' && room?.running === false;

/** Everything the client was to be sent before this moment has come. */
async function fence(client: Client): Promise<void> {
  await client.call('health');
}

it('G005: an unknown method is refused and does not subscribe', async () => {
  const [stranger, reader] = [await world.connect(), await world.connect()];
  const refused = await stranger.refusal('profiles.rooms.untrusted', { eventMode: 'delta-v1' });
  expect(refused.code).toBe('METHOD_NOT_ALLOWED');
  await reader.call('profiles.rooms.list');
  const { id } = await makeGroup(world.client, ['default', 'writer'], quiet);
  await reader.waitForGroup(id, ({ type }) => type === 'updated');
  await fence(stranger);
  expect(groupFrames(stranger)).toEqual([]);
});

it('G150, X059: a group event in both modes, and to nobody else', async () => {
  const [full, delta, lister, caller] = await Promise.all([1, 2, 3, 4].map(() => world.connect()));
  if (!full || !delta || !lister || !caller) throw new Error('four sockets are open');
  await full.call('profiles.rooms.list', {});
  await delta.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  await lister.call('profiles.list');
  await caller.rpc('writer', 'sessions.list');
  const { id } = await makeGroup(world.client, ['default', 'writer'], quiet);
  const sent = await sendTo(world.client, id, 'Hello');
  const withMessage = ({ room }: GroupEvent) => room?.messageCount === 1;
  const seen = await full.waitForGroup(id, withMessage);
  expect(seen).toMatchObject({ type: 'updated', room: { messages: sent.messages } });
  const slim = await delta.waitForGroup(id, withMessage);
  expect(slim.room).not.toHaveProperty('messages');
  expect(slim.room?.latestMessage?.content).toBe('Hello');
  await Promise.all([fence(lister), fence(caller)]);
  expect(groupFrames(lister)).toEqual([]);
  expect(groupFrames(caller)).toEqual([]);
});

it('the mode sticks, unknown modes are ignored, another type is refused but subscribes', async () => {
  const client = await world.connect();
  await client.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  await client.call('profiles.rooms.list', { eventMode: 'full-v9' });
  await client.call('profiles.rooms.list', {});
  const other = await world.connect();
  const refused = await other.refusal('profiles.rooms.list', { eventMode: 7 });
  expect(refused.code).toBe('INVALID_PARAMS');
  const failed = await world.connect();
  await failed.refusal('profiles.rooms.get', { roomId: 'abc', eventMode: 'delta-v1' });
  const { id } = await makeGroup(world.client, ['default', 'writer'], quiet);
  const [slim, whole, alsoSlim] = await Promise.all(
    [client, other, failed].map((each) => each.waitForGroup(id, ({ type }) => type === 'updated')),
  );
  expect(slim?.room).not.toHaveProperty('messages');
  expect(whole?.room?.messages).toEqual([]);
  expect(alsoSlim?.room).not.toHaveProperty('messages');
});

it('G151: an event carries what it adds', async () => {
  const client = await world.connect();
  await client.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  const { id } = await makeGroup(world.client, ['default', 'writer'], quiet);
  const created = await client.waitForGroup(id, ({ type }) => type === 'updated');
  expect(created).not.toHaveProperty('appended');
  expect(created).not.toHaveProperty('lastSeq');
  await sendTo(world.client, id, '@writer hi');
  await settled(world.client, id);
  await client.waitForGroup(id, isEnd);
  const messages = await wholeHistory(world.client, id);
  const adding = client.groupEvents(id).filter(({ appended }) => appended !== undefined);
  expect(adding).toMatchObject([
    { type: 'updated', appended: [messages[0]], windowFirstSeq: 0, lastSeq: 0 },
    { type: 'updated', profile: 'writer', appended: [messages[1]], windowFirstSeq: 0, lastSeq: 1 },
  ]);
});

it('X050, X056: the events of one answered mention, in order', async () => {
  const client = await world.connect();
  await client.call('profiles.rooms.list');
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  const gates = [new Gate(), new Gate()] as const;
  world.models.script('writer', [
    { text: ['Some ', gates[0].opened, 'words ', gates[1].opened, 'in a row'] },
  ]);
  await sendTo(world.client, id, '@writer hi');
  for (const [index, text] of ['Some ', 'Some words '].entries()) {
    await client.waitForGroup(id, ({ patch, room }) => (patch ?? room)?.streams['writer'] === text);
    gates[index]?.open();
  }
  await client.waitForGroup(id, isEnd);
  const events = client.groupEvents(id).slice(1); // after the creation
  const place = (fits: (event: GroupEvent) => boolean) => events.findIndex(fits);
  const places = [
    place(({ type, appended }) => type === 'updated' && appended?.[0]?.role === 'user'),
    place(({ type, room }) => type === 'readiness' && room?.readiness['writer']?.state === 'ready'),
    place(({ type }) => type === 'stream'),
    place(({ type, profile }) => type === 'updated' && profile === 'writer'),
    place(isEnd),
  ];
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places[0]).toBe(0);
  expect(places.at(-1)).toBe(events.length - 1);
  expect(events[0]?.room).toMatchObject({ running: true, activeProfiles: ['writer'] });
  const reply = events[places[3] ?? -1];
  expect(reply).toMatchObject({
    appended: [{ role: 'assistant', profile: 'writer', content: 'Some words in a row' }],
    room: { running: true },
  });
  expect(events.at(-1)?.room).toMatchObject({ running: false, runState: { state: 'completed' } });
  const ids = client.events.flatMap(({ eventId }) => eventId ?? []);
  expect(ids).toHaveLength(client.events.filter(({ event }) => event !== 'tick').length);
});

it('X051: a failed member is an error, then the end of the run', async () => {
  const client = await world.connect();
  await client.call('profiles.rooms.list');
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  world.models.script('writer', [{ fault: { kind: 'status', status: 401 } }]);
  await sendTo(world.client, id, '@writer hi');
  await client.waitForGroup(id, isEnd);
  const [failure, end] = client.groupEvents(id).slice(-2);
  expect(failure).toMatchObject({ type: 'error', profile: 'writer', room: { running: true } });
  expect(failure?.error).toMatch(/\S/);
  expect(end).toMatchObject({ type: 'run-state', room: { runState: { state: 'partial' } } });
  world.models.script('writer', ['Hello from writer']);
});

it('a client that only applies events knows what the history says', async () => {
  const clients = [await world.connect(), await world.connect()];
  await clients[0]?.call('profiles.rooms.list', { eventMode: 'full-v1' });
  await clients[1]?.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  for (const content of ['one', '@writer two', '@default three']) {
    await sendTo(world.client, id, content);
    await settled(world.client, id);
  }
  const history = await wholeHistory(world.client, id);
  for (const client of clients) {
    const ended = ({ room, type }: GroupEvent) =>
      type === 'run-state' && room?.running === false && room.messageCount === history.length;
    await client.waitForGroup(id, ended);
    const model = new GroupModel(id);
    for (const event of client.groupEvents(id)) model.apply(event);
    expect(model.messages).toEqual(history);
    expect(model.gaps).toEqual([]);
  }
});
