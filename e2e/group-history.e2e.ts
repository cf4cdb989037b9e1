import { randomUUID } from 'node:crypto';
import { makeGroup, sendTo, settled, wholeHistory } from '@flowly/testing';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });

/** A group in which nobody answers unless named. */
const quietGroup = () =>
  makeGroup(world.client, ['default', 'writer'], {
    memberPolicies: { default: 'mentioned', writer: 'mentioned' },
  });

const page = (roomId: string, params: Record<string, unknown> = {}) =>
  world.client.call('profiles.rooms.history', { roomId, ...params });
const refusedPage = async (params: Record<string, unknown>) =>
  (await world.client.refusal('profiles.rooms.history', params)).code;
const refusedSend = (roomId: string, params: Record<string, unknown>) =>
  world.client.refusal('profiles.rooms.send', { roomId, content: 'Hello', ...params });
const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `message-${from + index}`);

describe('a group of 125 messages', () => {
  let roomId: string;
  beforeAll(async () => {
    roomId = (await quietGroup()).id;
    for (const content of numbers(0, 125)) await sendTo(world.client, roomId, content);
  }, 40_000);

  it('G010: a list without messages tells the newest one in short', async () => {
    const other = await quietGroup();
    await sendTo(world.client, other.id, 'x'.repeat(700));
    const { rooms } = await world.client.call('profiles.rooms.list', { includeMessages: false });
    for (const room of rooms) expect(room).not.toHaveProperty('messages');
    const short = rooms.find(({ id }) => id === other.id)?.latestMessage;
    expect(short).toMatchObject({ role: 'user', content: 'x'.repeat(512) });
    expect(Object.keys(short ?? {}).sort()).toEqual(['content', 'createdAt', 'id', 'role']);
    expect(rooms.find(({ id }) => id === roomId)?.messageCount).toBe(125);
  });

  it('G011, X020: is read page by page, 50 at a time unless told', async () => {
    const { rooms } = await world.client.call('profiles.rooms.list');
    expect(rooms.find(({ id }) => id === roomId)?.messages).toHaveLength(125);
    const first = await page(roomId, { limit: 50 });
    expect(first.messages.map(({ content }) => content)).toEqual(numbers(75, 125));
    expect(first).toMatchObject({ hasMore: true, totalCount: 125, roomId });
    expect(await page(roomId)).toEqual(first);
    const second = await page(roomId, { limit: 50, cursor: first.nextCursor });
    expect(second.messages.map(({ content }) => content)).toEqual(numbers(25, 75));
    const third = await page(roomId, { limit: 50, cursor: second.nextCursor });
    expect(third.messages.map(({ content }) => content)).toEqual(numbers(0, 25));
    expect(third).toMatchObject({ nextCursor: null, hasMore: false, totalCount: 125 });
  });

  it('X021, X024: a cursor names a position', async () => {
    const atThree = await page(roomId, { cursor: cursorOf({ r: roomId, s: 3, v: 2 }) });
    expect(atThree.messages.map(({ content }) => content)).toEqual(numbers(0, 3));
    const atStart = await page(roomId, { cursor: cursorOf({ r: roomId, s: 0, v: 2 }) });
    expect(atStart).toMatchObject({
      messages: [],
      nextCursor: null,
      hasMore: false,
      totalCount: 125,
    });
  });

  it('X021: any other cursor is refused', async () => {
    const bad = [
      cursorOf({ r: roomId, s: -1, v: 2 }),
      cursorOf({ r: roomId, s: 1.5, v: 2 }),
      cursorOf({ r: roomId, s: 1, v: 1 }),
      cursorOf({ r: randomUUID(), s: 1, v: 2 }),
      cursorOf({ v: 2, s: 1, r: roomId }),
      cursorOf({ r: roomId, s: 1, v: 2, x: 1 }),
      cursorOf([roomId, 1, 2]),
      `${cursorOf({ r: roomId, s: 1, v: 2 })}=`,
      'not base64url!',
      '',
      7,
      'x'.repeat(513),
    ];
    for (const cursor of bad)
      expect([cursor, await refusedPage({ roomId, cursor })]).toEqual([
        cursor,
        'ROOM_CURSOR_INVALID',
      ]);
  });

  it('G013: pages neither repeat nor skip while messages are added', async () => {
    const first = await page(roomId, { limit: 40 });
    await sendTo(world.client, roomId, 'one more');
    const second = await page(roomId, { limit: 40, cursor: first.nextCursor });
    expect(second.messages.map(({ content }) => content)).toEqual(numbers(45, 85));
    expect(second.totalCount).toBe(126);
  });
});

it.each([0, 101, '50', true])('X020: the limit %j is refused', async (limit) => {
  const { id } = await quietGroup();
  expect(await refusedPage({ roomId: id, limit })).toBe('INVALID_PARAMS');
});

it('X023: a malformed cursor is seen before an unknown group', async () => {
  expect(await refusedPage({ roomId: randomUUID(), cursor: 'nonsense' })).toBe(
    'ROOM_CURSOR_INVALID',
  );
  expect(await refusedPage({ roomId: randomUUID(), cursor: 'nonsense', limit: 0 })).toBe(
    'INVALID_PARAMS',
  );
});

it('X026: the history of an empty group', async () => {
  const { id } = await quietGroup();
  expect(await page(id)).toMatchObject({
    messages: [],
    nextCursor: null,
    hasMore: false,
    totalCount: 0,
  });
});

it.each([
  ['nothing', ''],
  ['white space', ' \n\t '],
  ['32,001 characters', 'x'.repeat(32_001)],
  ['a NUL', 'a\0b'],
  ['a number', 7],
])('X030: a message of %s is refused', async (_, content) => {
  const { id } = await quietGroup();
  expect((await refusedSend(id, { content })).code).toBe('INVALID_PARAMS');
  expect((await page(id)).totalCount).toBe(0);
});

it('takes 32,000 characters, counted as code points, and trims', async () => {
  const { id } = await quietGroup();
  await sendTo(world.client, id, '😀'.repeat(32_000));
  await sendTo(world.client, id, '  trimmed \n');
  const texts = (await wholeHistory(world.client, id)).map(({ content }) => content);
  expect(texts).toEqual(['😀'.repeat(32_000), 'trimmed']);
});

it('X037: the same text twice is two messages', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  for (let count = 0; count < 2; count++) {
    await sendTo(world.client, id, '@writer again');
    await settled(world.client, id);
  }
  const texts = (await wholeHistory(world.client, id)).map(({ content }) => content);
  expect(texts).toEqual([
    '@writer again',
    'Hello from writer',
    '@writer again',
    'Hello from writer',
  ]);
});

it('G020: after a restart the next message goes on with the sequence', async () => {
  const { id } = await quietGroup();
  for (let count = 0; count < 6; count++) await sendTo(world.client, id, `old ${count}`);
  const client = await world.restart();
  await sendTo(client, id, 'hello');
  const messages = await wholeHistory(client, id);
  expect(messages.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(messages.at(-1)?.content).toBe('hello');
});

describe('files of a group message', () => {
  const file = { fileName: 'a.txt', mimeType: 'text/plain', content: 'aGk=' };

  it('X032: are looked at before the group', async () => {
    const refused = await refusedSend(randomUUID(), { attachments: [{}] });
    expect(refused.code).toBe('INVALID_PARAMS');
  });

  it.each([
    ['no list', { a: 1 }],
    ['eleven', Array.from({ length: 11 }, () => file)],
    ['not objects', ['a.txt']],
    ['a path of this machine', [{ fileName: 'a', mimeType: 'b', filePath: '/etc/passwd' }]],
    ['no base64', [{ ...file, content: 'not base64!' }]],
    ['no https', [{ fileName: 'a', mimeType: 'b', cdnUrl: 'http://cdn.example.com/a' }]],
    [
      'a user in the address',
      [{ fileName: 'a', mimeType: 'b', cdnUrl: 'https://u@example.com/a' }],
    ],
  ])('are refused: %s', async (_, attachments) => {
    const { id } = await quietGroup();
    expect((await refusedSend(id, { attachments })).code).toBe('INVALID_PARAMS');
  });

  it('X035: 13 MiB twice is too much together', async () => {
    const { id } = await quietGroup();
    const content = 'A'.repeat((13 * 1024 * 1024 * 4) / 3 + 4 - (((13 * 1024 * 1024 * 4) / 3) % 4));
    const large = { ...file, content: content.slice(0, content.length - (content.length % 4)) };
    const refused = await refusedSend(id, { attachments: [large, large] });
    expect(refused.code).toBe('INVALID_PARAMS');
  }, 60_000);
});
