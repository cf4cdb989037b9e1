import { randomUUID } from 'node:crypto';
import { accepted, ended, GroupWorld, until, type Given } from '../orchestrator.harness';
import { reconcileGroups } from '../turns/reconciler';
import { stepAccepted } from '../turns/step-accepted';
import { stepEnded } from '../turns/step-ended';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start({ reconcileMs: 40 });
  group = await world.create();
});
afterEach(() => world.stop());

const stop = (id?: string) => world.command('groups.stop', { roomId: group }, id);
const messages = async () => (await world.get(group)).messages ?? [];
const canWrite = async (given: Given, member: string) => {
  const { text: before } = await read(given, member);
  await world.write(given, member, '!');
  return (await read(given, member)).text !== before;
};
const read = (given: Given, member: string) =>
  world.bus.live.read({ botId: '', runId: given.steps[member] ?? '', groupId: group });
const accept = (given: Given, member: string) =>
  stepAccepted(world.orchestrator, accepted(given, member));

it('G070: posts what is visible, aborts the rest, and nothing comes after', async () => {
  const given = await world.send(group);
  await accept(given, 'writer');
  await world.write(given, 'writer', 'so far');
  await stop();
  const room = await world.get(group);
  expect(room).toMatchObject({ running: false, streams: {}, runState: { state: 'aborted' } });
  expect(await messages()).toMatchObject([
    { role: 'user' },
    { profile: 'writer', content: 'so far', aborted: true, durationMs: expect.any(Number) },
  ]);
  expect((await world.record(group)).watermarks).toEqual({ default: 0, writer: 1 });
  expect(await canWrite(given, 'writer')).toBe(false);
  await stepEnded(world.orchestrator, ended(given, 'writer', { aborted: true }));
  await stepEnded(world.orchestrator, ended(given, 'default'));
  expect(await messages()).toHaveLength(2);
  expect(await world.runState(given)).toBeNull();
});

it('a member at work posts also an empty text, a queued one only what is visible', async () => {
  const given = await world.send(
    await (group = await world.create(['default', 'writer', 'reviewer'])),
  );
  await accept(given, 'writer');
  await world.write(given, 'reviewer', 'seen');
  await stop();
  expect((await messages()).map(({ profile, content }) => [profile, content])).toEqual([
    [undefined, 'Hello'],
    ['writer', ''],
    ['reviewer', 'seen'],
  ]);
});

it('repeats its aborts until each turn has ended', async () => {
  const given = await world.send(group, '@writer hi');
  await stop();
  const aborts = () => world.orders.filter(({ type }) => type === 'abort').length;
  await until(async () => {
    await reconcileGroups(world.orchestrator);
    return aborts() >= 3;
  });
  await stepEnded(world.orchestrator, ended(given, 'writer', { aborted: true }));
  const before = aborts();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await reconcileGroups(world.orchestrator);
  await world.orchestrator.relay.drain();
  expect(aborts()).toBe(before);
});

it('a failed commit lets the run go on', async () => {
  const given = await world.send(group);
  await accept(given, 'writer');
  const { database } = world.store;
  database.exec(
    `CREATE TEMP TRIGGER no BEFORE UPDATE ON rooms BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  await expect(stop()).rejects.toMatchObject({ code: 'ROOM_STORE_INVALID', retryable: true });
  database.exec('DROP TRIGGER no');
  expect((await world.get(group)).running).toBe(true);
  expect(await canWrite(given, 'writer')).toBe(true);
});

it('a final that was committed before the stop stays, one that comes after posts nothing', async () => {
  const given = await world.send(group);
  for (const member of ['default', 'writer']) {
    await accept(given, member);
    await world.write(given, member, `answer of ${member}`);
  }
  await Promise.all([
    stepEnded(world.orchestrator, ended(given, 'default')),
    stop(),
    stepEnded(world.orchestrator, ended(given, 'writer')),
  ]);
  const said = (await messages()).slice(1).map(({ profile, content }) => [profile, content]);
  expect(said.sort()).toEqual([
    ['default', 'answer of default'],
    ['writer', 'answer of writer'],
  ]);
});

it('X060: a stop of an idle group answers ok and changes nothing', async () => {
  const before = await world.record(group);
  await stop();
  await until(() => world.replies.length > 1);
  expect((await world.answers()).at(-1)?.outcome).toEqual({
    result: { hostId: 'host-1', ok: true },
  });
  expect(await world.record(group)).toEqual(before);
});

it('a stop that is delivered again leaves a newer run alone', async () => {
  const id = randomUUID();
  await world.send(group, '@writer one');
  await stop(id);
  const given = await world.send(group, '@writer two');
  await stop(id);
  expect((await world.get(group)).running).toBe(true);
  expect(await canWrite(given, 'writer')).toBe(true);
});
