import { randomUUID } from 'node:crypto';
import { ended, GroupWorld, until } from '../orchestrator.harness';
import { stepAccepted } from '../turns/step-accepted';
import { accepted } from '../orchestrator.harness';
import { stepEnded } from '../turns/step-ended';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start({ reconcileMs: 40 });
  group = await world.create();
});
afterEach(() => world.stop());

const update = (changes: Record<string, unknown>, id?: string) =>
  world.command(
    'groups.update',
    { roomId: group, title: 'Council', members: ['default', 'writer'], ...changes },
    id,
  );
const answered = async (members: string[]) => {
  const given = await world.send(group, members.map((name) => `@${name}`).join(' '));
  for (const member of members) {
    await stepAccepted(world.orchestrator, accepted(given, member));
    await stepEnded(world.orchestrator, ended(given, member));
  }
  return given;
};
const removals = () =>
  world.sessionOrders.flatMap((order) => (order.type === 'remove-session' ? [order] : []));

it('X009: absent mode and policies stay, null counts as absent', async () => {
  await update({ mode: 'council', memberPolicies: { writer: 'mentioned' } });
  await update({ title: 'Renamed' });
  await update({ title: 'Renamed', mode: null, memberPolicies: null });
  expect(await world.get(group)).toMatchObject({
    title: 'Renamed',
    mode: 'council',
    memberPolicies: { default: 'always', writer: 'mentioned' },
  });
  expect(removals()).toEqual([]);
});

it('nothing is left of a removed member: watermark, place in the run, readiness, session', async () => {
  await answered(['default', 'writer']);
  await update({ members: ['default', 'reviewer'] });
  const { watermarks, run } = await world.record(group);
  expect(watermarks).toEqual({ default: 1, reviewer: 0 });
  expect(Object.keys(run?.members ?? {})).toEqual(['default']);
  await until(() => removals().length === 1);
  expect(removals()[0]).toMatchObject({
    groupId: group,
    bot: 'writer',
    sessionKey: `desktop:profile-room:${group}`,
    steps: [],
  });
  await update({ members: ['writer', 'reviewer'] });
  const room = await world.get(group);
  expect(room.readiness['writer']).toMatchObject({ state: 'idle' });
  expect((await world.record(group)).watermarks).toEqual({ writer: 0, reviewer: 0 });
});

it('what a stopped run still awaits of a removed member goes with its session', async () => {
  const given = await world.send(group, '@default @writer hi');
  await world.command('groups.stop', { roomId: group });
  await update({ members: ['default', 'reviewer'] });
  await until(() => removals().length === 1);
  const stepKey = given.steps['writer'];
  expect(removals()[0]?.steps).toEqual([{ stepKey, runId: given.run }]);
  await stepEnded(world.orchestrator, ended(given, 'writer', { aborted: true, text: '' }));
  await stepEnded(world.orchestrator, ended(given, 'default', { aborted: true, text: '' }));
  expect(await world.runState(given)).toBeNull();
});

it('the event comes before the reply and shows the new members', async () => {
  await update({ members: ['default', 'reviewer'] });
  await until(() => world.replies.length === 2);
  expect(world.events.at(-1)).toMatchObject({
    type: 'updated',
    room: { members: ['default', 'reviewer'] },
  });
});

it('takes effect once, however often it is delivered', async () => {
  const id = randomUUID();
  await update({ title: 'Once' }, id);
  const before = await world.record(group);
  await update({ title: 'Once' }, id);
  expect(await world.record(group)).toEqual(before);
  await until(async () => (await world.answers()).length === 3);
  expect((await world.answers()).at(-1)?.outcome).toMatchObject({
    result: { room: { title: 'Once' } },
  });
});

it('group, busy and definition are examined in this order', async () => {
  const bad = { title: '', members: 'none' };
  await expect(update({ ...bad, roomId: randomUUID() })).rejects.toMatchObject({
    code: 'ROOM_NOT_FOUND',
  });
  const given = await world.send(group, '@writer hi');
  await expect(update(bad)).rejects.toMatchObject({ code: 'ROOM_BUSY_MEMBERS', retryable: false });
  await stepEnded(world.orchestrator, ended(given, 'writer'));
  await expect(update(bad)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(update({ members: 'none' })).rejects.toMatchObject({ code: 'ROOM_MEMBERS_INVALID' });
  await expect(update({ members: ['default', 'gone'], mode: 'x' })).rejects.toMatchObject({
    code: 'PROFILE_NOT_FOUND',
  });
  await expect(update({ mode: 'x' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});
