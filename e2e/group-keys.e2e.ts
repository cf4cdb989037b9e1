import { randomUUID } from 'node:crypto';
import { Gate, getGroup, makeGroup, sendTo, settled } from '@flowly/testing';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'], limits: { groups: 6 } });

const group = () => makeGroup(world.client, ['default', 'writer']);
const send = (roomId: string, idempotencyKey: unknown, changes: Record<string, unknown> = {}) =>
  world.client.call('profiles.rooms.send', {
    roomId,
    content: '@writer hi',
    idempotencyKey,
    ...changes,
  });
const refusal = (roomId: unknown, idempotencyKey: unknown, changes: Record<string, unknown> = {}) =>
  world.client.refusal('profiles.rooms.send', {
    roomId,
    content: '@writer hi',
    idempotencyKey,
    ...changes,
  });
const file = { fileName: 'a.txt', mimeType: 'text/plain', content: 'SGVsbG8=' };
const conflict = { code: 'IDEMPOTENCY_CONFLICT', retryable: false };

describe('profiles.rooms.send', () => {
  it('the same key and content answer the group as it is now and run nothing', async () => {
    const { id } = await group();
    const gate = new Gate();
    world.models.script('writer', [{ gate: gate.opened, text: 'once' }]);
    const asked = world.models.calls.length;
    const first = await send(id, 'key-1');
    expect(first).not.toHaveProperty('replayed');
    const busy = await send(id, 'key-1', { content: ' @writer hi\n' });
    expect(busy).toMatchObject({ replayed: true, room: { running: true, messageCount: 1 } });
    gate.open();
    await settled(world.client, id);
    const { mark } = world.client;
    const after = await send(id, 'key-1', { includeMessages: false });
    expect(after).toMatchObject({ replayed: true, room: { running: false, messageCount: 2 } });
    expect(after.room).not.toHaveProperty('messages');
    expect(world.client.groupEvents(id, mark)).toEqual([]);
    expect(world.models.calls).toHaveLength(asked + 1);
  });

  it('twice at once: one message, one run', async () => {
    const { id } = await group();
    const other = await world.connect();
    const params = { roomId: id, content: '@writer hi', idempotencyKey: 'both' };
    const answers = await Promise.all(
      [world.client, other].map((client) => client.call('profiles.rooms.send', params)),
    );
    expect(answers.filter(({ replayed }) => replayed)).toHaveLength(1);
    const room = await settled(world.client, id);
    expect(room.messageCount).toBe(2);
    await world.client.call('profiles.rooms.delete', { roomId: id });
  });

  it('other content is a conflict, also while the group is busy', async () => {
    const { id } = await group();
    const gate = new Gate();
    world.models.script('writer', [{ gate: gate.opened, text: 'late' }]);
    await send(id, 'key-1', { attachments: [file] });
    expect(await refusal(id, 'key-1', { content: 'other' })).toMatchObject(conflict);
    expect(await refusal(id, 'key-1')).toMatchObject(conflict);
    const renamed = { ...file, fileName: 'b.txt' };
    expect(await refusal(id, 'key-1', { attachments: [renamed] })).toMatchObject(conflict);
    expect(await refusal(id, 'key-2')).toMatchObject({ code: 'ROOM_BUSY', retryable: true });
    const again = await send(id, 'key-1', { attachments: [{ ...file, thumbnail: 'aGk=' }] });
    expect(again.replayed).toBe(true);
    gate.open();
    await settled(world.client, id);
    await world.client.call('profiles.rooms.delete', { roomId: id });
  });

  it('the shape of the key comes first, the group before the key', async () => {
    const { id } = await group();
    const bad = ['', ' outer', 'outer ', 'a\nb', 'x'.repeat(129), 7, '\u{1f600}'.repeat(129)];
    for (const key of bad) expect((await refusal('abc', key)).code).toBe('INVALID_PARAMS');
    expect((await refusal(randomUUID(), 'key-1')).code).toBe('ROOM_NOT_FOUND');
    for (const key of [null, '\u{1f600}'.repeat(128), 'x'.repeat(128)]) {
      await send(id, key);
      await settled(world.client, id);
    }
    expect((await getGroup(world.client, id)).messageCount).toBe(6);
  });

  it('a key is of its group and lives as long, over restarts', async () => {
    const [one, two] = [await group(), await group()];
    await send(one.id, 'key-1');
    const other = await send(two.id, 'key-1', { content: 'something else' });
    expect(other).not.toHaveProperty('replayed');
    await settled(world.client, one.id);
    const client = await world.restart();
    const again = await send(one.id, 'key-1');
    expect(again).toMatchObject({ replayed: true, room: { messageCount: 2 } });
    for (const { id } of [one, two]) {
      await settled(client, id);
      await client.call('profiles.rooms.delete', { roomId: id });
    }
  });

  it.each([0, 4, 15])(
    'a send whose service is killed %i ms later can be sent again: one message',
    async (ms) => {
      const { id } = await group();
      const orchestrator = world.system.service('group-orchestrator');
      const [first, impatient] = [await world.connect(), await world.connect()];
      const params = { roomId: id, content: '@writer once', idempotencyKey: 'key' };
      const answer = first.call('profiles.rooms.send', params, 30_000);
      await new Promise((resolve) => setTimeout(resolve, ms));
      await orchestrator.restart();
      const again = await impatient.call('profiles.rooms.send', params, 30_000);
      const both = [await answer, again].map(({ replayed }) => replayed ?? false);
      expect(both.filter((replayed) => replayed)).toHaveLength(1);
      const room = await settled(world.client, id);
      expect(room.messages?.map(({ role }) => role)).toEqual(['user', 'assistant']);
      await world.client.call('profiles.rooms.delete', { roomId: id });
    },
    40_000,
  );

  it('X037: without a key the same text is another message', async () => {
    const { id } = await group();
    for (let n = 0; n < 2; n++) {
      await sendTo(world.client, id, '@writer same');
      await settled(world.client, id);
    }
    expect((await getGroup(world.client, id)).messageCount).toBe(4);
  });
});

describe('profiles.rooms.create', () => {
  const definition = { title: 'Keyed', members: ['default', 'writer'], idempotencyKey: 'create-1' };
  const create = (changes: Record<string, unknown> = {}) =>
    world.client.call('profiles.rooms.create', { ...definition, ...changes });
  const refused = (changes: Record<string, unknown>) =>
    world.client.refusal('profiles.rooms.create', { ...definition, ...changes });

  it('makes one group, also twice at once and when there could be no other', async () => {
    const both = await Promise.all([create(), create()]);
    expect(both.map(({ replayed }) => replayed ?? false).sort()).toEqual([false, true]);
    const [first, second] = both.map(({ room }) => room.id);
    expect(second).toBe(first);
    const { rooms } = await world.client.call('profiles.rooms.list', { includeMessages: false });
    for (let count = rooms.length; count < 6; count++) await group();
    expect((await refused({ idempotencyKey: 'create-2' })).code).toBe('ROOM_LIMIT');
    expect(await create({ mode: 'panel' })).toMatchObject({ replayed: true, room: { id: first } });
    expect(await refused({ title: 'Other' })).toMatchObject(conflict);
    expect((await refused({ idempotencyKey: ' ' })).code).toBe('INVALID_PARAMS');
  });
});
