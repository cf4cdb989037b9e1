import Database from 'better-sqlite3';
import { Gate, getGroup, makeGroup, sendTo, settled, wholeHistory } from '@flowly/testing';
import { groupDatabase, readGroupValue } from './support/group-database';
import { SmallDisk } from './support/small-disk';
import { useWorld } from './support/world';

/** The group database is held by another program, on a full disk, at its limit (store.md §4); in this order. */
const MIB = 2 ** 20;
/** Ordinary writes leave the last 16 MiB. */
const storeBytes = 16 * MIB + MIB;
const disk = new SmallDisk(48);
const world = useWorld({
  bots: ['writer'],
  home: disk.home,
  env: disk.env,
  limits: { storeBusyMs: 200, storeBytes, reconcileMs: 300 },
});
afterAll(() => disk.remove());

const LONG = 'x'.repeat(32_000);
const END = 'and this is the end of it'.padEnd(20_000, '.');
const QUIET = { memberPolicies: { default: 'mentioned', writer: 'mentioned' } };
const LIMIT = { code: 'ROOM_STORE_LIMIT', retryable: false };

const refusedSend = (roomId: string, content: string, extra: object = {}) =>
  world.client.refusal('profiles.rooms.send', { roomId, content, ...extra });
const transcript = async (groupId: string) =>
  (await wholeHistory(world.client, groupId)).map(({ content }) => content);
const expectSound = () => expect(readGroupValue(disk.home, 'PRAGMA quick_check')).toBe('ok');

/** Waits until something is shown of each of these members. */
const shows = (groupId: string, members: readonly string[]) =>
  world.client.waitForGroup(groupId, ({ patch, room }) =>
    members.every((name) => ((patch ?? room)?.streams[name] ?? '') !== ''),
  );

it('while another program holds it, a send is refused as a conflict that passes, and nothing has changed', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer'], QUIET);
  const other = new Database(groupDatabase(disk.home));
  other.exec('BEGIN IMMEDIATE');
  expect(await refusedSend(id, 'hello')).toMatchObject({
    code: 'ROOM_STORE_CONFLICT',
    retryable: true,
  });
  other.close();
  expect(await transcript(id)).toEqual([]);
  await sendTo(world.client, id, 'hello');
  expect(await transcript(id)).toEqual(['hello']);
});

it('on a full disk a send is refused whole, and accepted when there is room again', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  disk.fill();
  const before = await getGroup(world.client, id);
  const file = {
    fileName: 'a.bin',
    mimeType: 'a/b',
    content: Buffer.alloc(MIB).toString('base64'),
  };
  for (const extra of [{}, { attachments: [file] }])
    expect(await refusedSend(id, LONG, extra)).toMatchObject(LIMIT);
  expect(await getGroup(world.client, id)).toEqual(before);
  expectSound();
  disk.free();
  await sendTo(world.client, id, LONG);
  await settled(world.client, id);
  const [question, ...answers] = await transcript(id);
  expect([question, ...answers.sort()]).toEqual([LONG, 'Hello from default', 'Hello from writer']);
}, 30_000);

it('a run whose members end on a full disk ends when there is room again, each heard once', async () => {
  const { client, models } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  const gate = new Gate();
  for (const name of ['default', 'writer'])
    models.script(name, [{ text: [`I am ${name} `, gate.opened, END] }]);
  await sendTo(client, id, 'Go on');
  await shows(id, ['default', 'writer']);
  disk.fill();
  gate.open();
  for (const name of ['default', 'writer']) await models.callsOf(name).at(-1)?.ended;
  expect((await getGroup(client, id)).running).toBe(true);
  expectSound();
  disk.free();
  await settled(client, id);
  expect((await transcript(id)).sort()).toEqual([
    'Go on',
    `I am default ${END}`,
    `I am writer ${END}`,
  ]);
}, 40_000);

it('at the limit of the file sends, creates and updates are refused; what ends something is stored', async () => {
  const { client, models } = world;
  const group = async (extra: Record<string, unknown>) =>
    (await makeGroup(client, ['default', 'writer'], extra)).id;
  const [full, stopped] = [await group(QUIET), await group(QUIET)];
  const speaking = await group({ mode: 'council' });
  const [first, second] = [new Gate(), new Gate()];
  models.script('writer', [
    { text: ['Cut off', new Gate().opened] },
    { text: ['A second opinion', second.opened] },
  ]);
  models.script('default', [{ text: ['At the limit ', first.opened, END] }, '(pass)']);
  await sendTo(client, stopped, '@writer go on');
  await shows(stopped, ['writer']);
  await sendTo(client, speaking, 'Go on');
  await shows(speaking, ['default']);

  let sent = 0;
  const send = () => sendTo(client, full, LONG, { includeMessages: false }).then(() => sent++);
  await expect(repeat(send, 100)).rejects.toMatchObject(LIMIT);
  expect(sent).toBeGreaterThan(5);
  expect(await transcript(full)).toHaveLength(sent);
  const definition = { title: 'One more', members: ['default', 'writer'] };
  expect(await client.refusal('profiles.rooms.create', definition)).toMatchObject(LIMIT);
  const update = { roomId: full, ...definition };
  expect(await client.refusal('profiles.rooms.update', update)).toMatchObject(LIMIT);
  expect(await refusedSend(full, 'short')).toMatchObject(LIMIT);

  first.open();
  await shows(speaking, ['writer']);
  await client.waitForGroup(
    speaking,
    ({ type, room }) => type === 'readiness' && room?.readiness['writer']?.state === 'ready',
  );
  second.open();
  expect((await settled(client, speaking)).runState?.state).toBe('completed');
  expect(await transcript(speaking)).toEqual(['Go on', `At the limit ${END}`, 'A second opinion']);
  await client.call('profiles.rooms.stop', { roomId: stopped });
  expect((await settled(client, stopped)).runState?.state).toBe('aborted');
  expect(await transcript(stopped)).toEqual(['@writer go on', 'Cut off']);
  await client.call('profiles.rooms.delete', { roomId: full });
  const { rooms } = await client.call('profiles.rooms.list', { includeMessages: false });
  expect(rooms.map(({ id }) => id)).not.toContain(full);
  expectSound();
}, 30_000);

async function repeat(work: () => Promise<unknown>, most: number): Promise<void> {
  for (let count = 0; count < most; count++) await work();
}
