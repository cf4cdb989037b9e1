import { randomUUID } from 'node:crypto';
import { getGroup, makeGroup, sendTo, settled, wholeHistory } from '@flowly/testing';
import { readGroupValue, watermarksOf } from './support/group-database';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'], limits: { groups: 8 } });

const AT = '2026-01-02T03:04:05.678Z';
const message = (changes: Record<string, unknown> = {}) => ({
  id: randomUUID(),
  role: 'user',
  content: 'Review this',
  createdAt: AT,
  ...changes,
});
const legacy = (changes: Record<string, unknown> = {}) => ({
  id: randomUUID(),
  title: 'Legacy council',
  members: ['default', 'writer'],
  mode: 'panel',
  createdAt: AT,
  updatedAt: AT,
  messages: [message()],
  ...changes,
});
const load = (rooms: unknown) => world.client.call('profiles.rooms.import', { rooms });
const refusal = async (rooms: unknown) =>
  (await world.client.refusal('profiles.rooms.import', { rooms })).code;
const counts = (ok: boolean, imported: number, existing: number, conflicts: string[] = []) => ({
  hostId: expect.any(String),
  ok,
  imported,
  existing,
  conflicts,
});
const ids = async () => {
  const { rooms } = await world.client.call('profiles.rooms.list', { includeMessages: false });
  return rooms.map(({ id }) => id);
};

it('G130: a room of another program, again, and again when it has grown', async () => {
  const attachment = {
    fileName: 'brief.pdf',
    mimeType: 'application/pdf',
    filePath: '/home/me/brief.pdf',
  };
  const room = legacy({
    private: 'secret',
    messages: [message({ attachments: [attachment] })],
    watermarks: { default: 1, writer: 1 },
  });
  expect(await load([room])).toEqual(counts(true, 1, 0));
  const listed = await world.client.call('profiles.rooms.list');
  const found = listed.rooms.find(({ id }) => id === room.id);
  expect(found).toMatchObject({
    title: 'Legacy council',
    createdAt: AT,
    updatedAt: AT,
    messageCount: 1,
    runState: null,
  });
  const kept = { fileName: 'brief.pdf', mimeType: 'application/pdf' };
  expect(found?.messages?.[0]?.attachments).toEqual([kept]);
  const sql = 'SELECT payload_json FROM room_messages WHERE room_id = ?';
  const stored = String(readGroupValue(world.system.home, sql, room.id));
  expect(JSON.parse(stored)).toMatchObject({ attachments: [kept] });
  expect(JSON.stringify(found) + stored).not.toMatch(/filePath|private|secret/);
  expect(watermarksOf(world.system.home, room.id)).toEqual({ default: 1, writer: 1 });
  expect(await load([room])).toEqual(counts(true, 0, 1));
  await sendTo(world.client, room.id, '@writer go on');
  await settled(world.client, room.id);
  expect(await load([room])).toEqual(counts(true, 0, 1));
  const history = await wholeHistory(world.client, room.id);
  expect(history.map(({ seq }) => seq)).toEqual([0, 1, 2]);
  const call = world.models.calls.at(-1)?.messages.at(-1)?.content;
  expect(call).not.toContain('Review this');
});

it('G131: one conflict, and nothing is imported', async () => {
  const existing = await makeGroup(world.client, ['default', 'writer']);
  const before = await ids();
  const other = legacy({ id: existing.id, createdAt: AT });
  expect(await load([legacy(), other])).toEqual(counts(false, 0, 0, [existing.id]));
  expect(await ids()).toEqual(before);
});

it('a group as this gateway shows it is the same group', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  await sendTo(world.client, id, '@writer hi');
  const room = await settled(world.client, id);
  expect(await load([room])).toEqual(counts(true, 0, 1));
  await world.client.call('profiles.rooms.delete', { roomId: id });
  expect(await load([room])).toEqual(counts(true, 1, 0));
  const again = await getGroup(world.client, id);
  expect(again.messages).toEqual(room.messages);
  expect(again).toMatchObject({ usage: room.usage, runState: null, running: false });
});

it('tells of each imported group, with its messages in full-v1', async () => {
  const watcher = await world.connect();
  await watcher.call('profiles.rooms.list');
  const room = legacy();
  await load([room]);
  const event = await watcher.waitForGroup(room.id, ({ type }) => type === 'updated');
  expect(event).toMatchObject({ windowFirstSeq: 0, lastSeq: 0 });
  expect(event).not.toHaveProperty('appended');
  expect(event.room?.messages).toMatchObject([{ seq: 0, content: 'Review this' }]);
  await world.client.call('profiles.rooms.delete', { roomId: room.id });
});

describe('refuses', () => {
  it('X071: a message whose id is no UUID, and such a room id', async () => {
    expect(await refusal([legacy({ messages: [message({ id: 'm-1' })] })])).toBe('ROOM_INVALID');
    expect(await refusal([legacy({ id: 'abc' })])).toBe('ROOM_INVALID');
  });

  it.each<[string, () => unknown, string]>([
    ['what is no list', () => ({}), 'INVALID_PARAMS'],
    ['nothing', () => undefined, 'INVALID_PARAMS'],
    ['201 groups', () => Array.from({ length: 201 }, () => legacy()), 'INVALID_PARAMS'],
    [
      '1,001 messages',
      () => [
        legacy({
          messages: Array(1_001)
            .fill(0)
            .map(() => message()),
        }),
      ],
      'INVALID_PARAMS',
    ],
    [
      'a bot that is not there',
      () => [legacy({ members: ['default', 'nosuch'] })],
      'PROFILE_NOT_FOUND',
    ],
    ['one member', () => [legacy({ members: ['writer'] })], 'ROOM_MEMBERS_TOO_FEW'],
    ['an unknown mode', () => [legacy({ mode: 'debate' })], 'INVALID_PARAMS'],
    [
      'a policy that is none',
      () => [legacy({ memberPolicies: { writer: 'x' } })],
      'INVALID_PARAMS',
    ],
  ])('%s', async (_, rooms, code) => {
    const before = await ids();
    expect(await refusal(rooms())).toBe(code);
    expect(await ids()).toEqual(before);
  });

  it('more than there may be, after conflicts', async () => {
    const existing = await makeGroup(world.client, ['default', 'writer']);
    const before = await ids();
    const many = Array.from({ length: 8 }, () => legacy());
    expect(await refusal(many)).toBe('ROOM_LIMIT_IMPORT');
    const conflict = legacy({ id: existing.id });
    expect(await load([...many, conflict])).toEqual(counts(false, 0, 0, [existing.id]));
    expect(await ids()).toEqual(before);
  });
});
