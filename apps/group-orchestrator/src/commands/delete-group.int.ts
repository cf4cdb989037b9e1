import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ended, GroupWorld, until } from '../orchestrator.harness';
import { stepEnded } from '../turns/step-ended';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start({ reconcileMs: 40 });
  group = await world.create();
});
afterEach(() => world.stop());

const remove = (id?: string) => world.command('groups.delete', { roomId: group }, id);
const file = { fileName: 'a.txt', mimeType: 'text/plain', content: 'SGVsbG8=' };
const media = () => readdirSync(join(world.home, 'media'));

it('takes messages, files and the private session at each member, and says so', async () => {
  const given = await world.send(group, '@writer hi');
  await stepEnded(world.orchestrator, ended(given, 'writer'));
  const params = { roomId: group, content: '@writer more', attachments: [file] };
  await world.command('groups.send', params);
  const second = (await world.record(group)).run?.id ?? '';
  await stepEnded(
    world.orchestrator,
    ended({ group, run: second, steps: { writer: `room-${second}-writer` } }, 'writer'),
  );
  expect(media()).toHaveLength(1);
  const id = randomUUID();
  await remove(id);
  await expect(world.get(group)).rejects.toMatchObject({ code: 'ROOM_NOT_FOUND' });
  expect(media()).toEqual([]);
  await until(() => world.sessionOrders.length === 2);
  expect(world.sessionOrders).toMatchObject([{ bot: 'default' }, { bot: 'writer' }]);
  await until(() => world.events.at(-1)?.type === 'deleted');
  expect(world.events.at(-1)).toEqual({ kind: 'group', groupId: group, type: 'deleted' });
  const { redis, keys } = world.bus;
  expect(await redis.exists(keys.readiness(group))).toBe(0);
  await remove(id);
  await until(async () => (await world.answers()).length >= 5);
  const outcome = { result: { hostId: 'host-1', ok: true } };
  expect((await world.answers()).slice(-2).map((answer) => answer.outcome)).toEqual([
    outcome,
    outcome,
  ]);
  expect(world.sessionOrders).toHaveLength(2);
});

it('a file that another group has as well stays', async () => {
  const quiet = { default: 'mentioned', writer: 'mentioned' };
  const update = { title: 'Council', members: ['default', 'writer'], memberPolicies: quiet };
  await world.command('groups.update', { roomId: group, ...update });
  await world.command('groups.send', { roomId: group, content: 'hi', attachments: [file] });
  const sent = (await world.get(group)).messages?.[0]?.attachments?.[0];
  const copy = {
    id: randomUUID(),
    title: 'Copy',
    members: ['default', 'writer'],
    createdAt: '2026-01-01T00:00:00.000Z',
    messages: [
      {
        id: randomUUID(),
        role: 'user',
        content: 'hi',
        createdAt: '2026-01-01T00:00:00.000Z',
        attachments: [sent],
      },
    ],
  };
  await world.command('groups.import', { rooms: [copy] });
  await remove();
  expect(media()).toEqual([sent?.mediaId]);
  await world.command('groups.delete', { roomId: copy.id });
  expect(media()).toEqual([]);
});

it('a running group is not deleted, and a group that is not there is not found', async () => {
  await world.send(group, '@writer hi');
  await expect(remove()).rejects.toMatchObject({ code: 'ROOM_BUSY_DELETE', retryable: false });
  expect((await world.get(group)).running).toBe(true);
  group = randomUUID();
  await expect(remove()).rejects.toMatchObject({ code: 'ROOM_NOT_FOUND' });
});

it('what comes of a deleted group changes nothing and fails nothing', async () => {
  const given = await world.send(group, '@writer hi');
  await world.command('groups.stop', { roomId: group });
  await remove();
  await stepEnded(world.orchestrator, ended(given, 'writer', { aborted: true }));
  await expect(world.get(group)).rejects.toMatchObject({ code: 'ROOM_NOT_FOUND' });
  const removal = world.sessionOrders.find((order) => 'bot' in order && order.bot === 'writer');
  await until(() => world.sessionOrders.length === 2);
  expect(removal ?? world.sessionOrders[1]).toMatchObject({
    steps: [{ stepKey: given.steps['writer'] }],
  });
});
