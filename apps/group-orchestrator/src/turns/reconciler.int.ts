import { ended, accepted, GroupWorld, until, type Given } from '../orchestrator.harness';
import { reconcileGroups } from './reconciler';
import { readRunSteps } from './run-steps';
import { stepAccepted } from './step-accepted';
import { stepEnded } from './step-ended';

const ROUND_MS = 40;

let world: GroupWorld;
afterEach(() => world.stop());

const start = async (acceptMs = 60_000, memberTimeoutMs = 600_000) => {
  world = await GroupWorld.start({ reconcileMs: ROUND_MS, acceptMs }, memberTimeoutMs);
};
const reconcile = () => reconcileGroups(world.orchestrator);
const ordersOf = (stepKey: string | undefined, type: 'step' | 'abort') =>
  world.orders.filter((order) => order.stepKey === stepKey && order.type === type);
const memberState = async (given: Given, member: string) =>
  (await world.record(given.group)).run?.members[member];

it('gives a step again until its bot has told of its end', async () => {
  await start();
  const given = await world.send(await world.create(), '@writer hi');
  const { writer } = given.steps;
  await until(async () => {
    await reconcile();
    return ordersOf(writer, 'step').length >= 3;
  });
  const [first, again] = ordersOf(writer, 'step');
  expect(again).toEqual(first);
  await stepEnded(world.orchestrator, ended(given, 'writer'));
  const orders = world.orders.length;
  await reconcile();
  await world.orchestrator.relay.drain();
  expect(world.orders).toHaveLength(orders);
  expect(await world.runState(given)).toBeNull();
});

it('says the same to a member whose step is given again after others have answered', async () => {
  await start();
  const given = await world.send(await world.create());
  await stepEnded(world.orchestrator, ended(given, 'default'));
  await until(async () => {
    await reconcile();
    return ordersOf(given.steps['writer'], 'step').length >= 2;
  });
  const [first, again] = ordersOf(given.steps['writer'], 'step');
  expect(again).toEqual(first);
});

it('a member that is not accepted in time fails as not started and is aborted until it has ended', async () => {
  await start(60);
  const given = await world.send(await world.create());
  await stepEnded(world.orchestrator, ended(given, 'default'));
  const { writer } = given.steps;
  await until(async () => {
    await reconcile();
    return ordersOf(writer, 'abort').length >= 2;
  });
  const room = await world.get(given.group);
  expect(room.runState).toMatchObject({
    state: 'partial',
    members: { writer: { state: 'failed' } },
  });
  expect(room.readiness['writer']?.state).toBe('error');
  expect(room.readiness['default']?.state).toBe('ready');
  const aborted = ended(given, 'writer', { aborted: true, text: '' });
  await stepEnded(world.orchestrator, aborted);
  expect(await world.runState(given)).toBeNull();
  expect((await memberState(given, 'writer'))?.lateResult?.state).toBe('aborted');
  expect(await world.contents(given.group)).toEqual(['Hello', 'answer of default']);
});

it('a member that takes too long fails and is aborted; its session gets the missed message again', async () => {
  await start(60_000, 60);
  const given = await world.send(await world.create(), '@writer hi');
  await stepAccepted(world.orchestrator, accepted(given, 'writer'));
  await until(async () => {
    await reconcile();
    return ordersOf(given.steps['writer'], 'abort').length >= 1;
  });
  expect(await memberState(given, 'writer')).toMatchObject({ state: 'failed' });
  const { watermarks, run } = await world.record(given.group);
  expect(watermarks['writer']).toBe(0);
  expect(run?.state).toBe('partial');
  const error = world.events.find(({ type }) => type === 'error');
  expect(error).toMatchObject({ profile: 'writer', room: { running: true } });
});

it('after a long pause the bot is asked first: what it had ended before counts, however late', async () => {
  await start(60_000, 1_000);
  const given = await world.send(await world.create(), '@writer hi');
  const { writer } = given.steps;
  await stepAccepted(world.orchestrator, accepted(given, 'writer'));
  await putBack(given, 3_600_000);
  await reconcile();
  expect(await memberState(given, 'writer')).toMatchObject({ state: 'running' });
  await until(() => ordersOf(writer, 'step').length === 2);
  await stepEnded(world.orchestrator, ended(given, 'writer'));
  expect(await world.contents(given.group)).toEqual(['@writer hi', 'answer of writer']);
});

/** As if the run had begun so much earlier and nobody had looked at it since. */
async function putBack(given: Given, ms: number): Promise<void> {
  const state = readRunSteps(await world.runState(given));
  if (!state) throw new Error('The run is forgotten.');
  const steps = Object.entries(state.steps).map(([key, step]) => [
    key,
    {
      ...step,
      givenAt: step.givenAt - ms,
      firstGivenAt: step.firstGivenAt - ms,
      acceptedAt: step.acceptedAt && step.acceptedAt - ms,
    },
  ]);
  await world.store.transaction((groups) =>
    groups.saveRunState(given.group, given.run, { ...state, steps: Object.fromEntries(steps) }),
  );
}

it('G072: a running run that another program left is stranded at once, its request kept', async () => {
  await start();
  const group = await world.create();
  const given = await world.send(group, '@writer hi');
  const attention = {
    kind: 'approval' as const,
    profile: 'writer',
    id: 'approval-1',
    request: { id: 'approval-1', command: 'echo safe' },
  };
  await world.store.transaction((groups) => {
    const record = groups.findGroup(group);
    const writer = record?.run?.members['writer'];
    if (!record?.run || !writer) throw new Error('no run');
    const waiting = { ...writer, state: 'needs_user' as const, attention };
    groups.updateGroup({ ...record, run: { ...record.run, members: { writer: waiting } } });
    groups.deleteRunState(group, given.run);
  });
  await reconcile();
  const { run, watermarks } = await world.record(group);
  expect(run).toMatchObject({
    state: 'stranded',
    members: { writer: { state: 'stranded', attention: { id: 'approval-1' } } },
  });
  expect(watermarks['writer']).toBe(0);
  await until(() => world.events.some(({ type }) => type === 'run-state'));
  await world.send(group, 'another round');
});

it('a group that cannot be driven hinders no other', async () => {
  await start();
  const [bad, good] = [await world.create(), await world.create()];
  const [first, second] = [await world.send(bad, '@writer a'), await world.send(good, '@writer b')];
  world.store.database.run(
    `UPDATE room_messages SET payload_json = 'broken' WHERE room_id = ?`,
    bad,
  );
  await until(async () => {
    await reconcile().catch((error: unknown) => world.errors.push(error));
    return ordersOf(second.steps['writer'], 'step').length >= 2;
  });
  expect(ordersOf(first.steps['writer'], 'step')).toHaveLength(1);
  expect(world.errors).not.toHaveLength(0);
});
