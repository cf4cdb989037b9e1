import { storedGroupView } from '@flowly/groups';
import { accepted, ended, GroupWorld, type Given } from '../orchestrator.harness';
import { stepAccepted } from '../turns/step-accepted';
import { stepEnded } from '../turns/step-ended';

let world: GroupWorld;
beforeEach(async () => {
  world = await GroupWorld.start();
});
afterEach(() => world.stop());

const snapshot = (group: string) => world.orchestrator.snapshots.one(group, true);
const entriesAfter = async (id: string) => {
  const { redis, keys } = world.bus;
  return (await redis.xrange(keys.events, `(${id}`, '+')).map(([, fields]) => fields[1] ?? '');
};

it('holds the texts of those at work, and readiness', async () => {
  const given = await world.send(await world.create());
  await stepAccepted(world.orchestrator, accepted(given, 'writer'));
  await world.write(given, 'writer', 'so far');
  const { value, after } = await snapshot(given.group);
  expect(value).toMatchObject({
    running: true,
    activeProfiles: ['default', 'writer'],
    streams: { writer: 'so far' },
    readiness: { default: { state: 'starting' }, writer: { state: 'ready' } },
  });
  expect(await entriesAfter(after)).toEqual([]);
});

it('is true at its event while a run goes on: what comes after it makes the end of it', async () => {
  const group = await world.create();
  let writing = runOften(group, 8);
  let seen = 0;
  for (let done = false; !done || seen <= 5; ) {
    // However slow the machine, it is looked at while runs go on.
    if (done) writing = runOften(group, 8);
    done = await Promise.race([writing.then(() => true), nextTurn()]);
    const { value, after } = await snapshot(group);
    const now = await allMessages(group);
    await world.orchestrator.relay.drain();
    const told = (await entriesAfter(after)).join('\n');
    const inside = new Set((value.messages ?? []).map(({ id }) => id));
    const missing = now.filter(({ id }) => !inside.has(id) && !told.includes(id));
    expect(missing).toEqual([]);
    seen++;
  }
  await writing;
  expect(seen).toBeGreaterThan(5);
});

it('shows a group as a commit left it, however far its run has come since', async () => {
  const group = await world.create();
  const given = await world.send(group);
  const view = await world.store.read((groups) => {
    const record = groups.findGroup(group);
    return record && storedGroupView(groups.viewInput(record));
  });
  if (!view) throw new Error('The group is not there.');
  for (const member of ['default', 'writer']) {
    await stepEnded(world.orchestrator, ended(given, member));
  }
  const { snapshots } = world.orchestrator;
  const then = await snapshots.asCommitted({ view, shown: [], nextSeq: 1 }, true);
  expect(then).toMatchObject({ running: true, activeProfiles: ['default', 'writer'] });
  expect(then.messages).toHaveLength(1);
  expect(await snapshots.now(group, true)).toMatchObject({ running: false, messageCount: 3 });
});

it('lists every group, newest change first', async () => {
  const [first, second] = [await world.create(), await world.create()];
  await world.send(first);
  const { value } = await world.orchestrator.snapshots.all(false);
  expect(value.map(({ id }) => id)).toEqual([first, second]);
  expect(value[0]).not.toHaveProperty('messages');
});

it('a group that is not there is not found', async () => {
  await expect(snapshot('11111111-1111-4111-8111-111111111111')).rejects.toMatchObject({
    code: 'ROOM_NOT_FOUND',
  });
});

async function runOften(group: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const given: Given = await world.send(group);
    for (const member of ['default', 'writer']) {
      await stepAccepted(world.orchestrator, accepted(given, member));
      await world.write(given, member, 'a piece ');
      await stepEnded(world.orchestrator, ended(given, member));
    }
  }
}

async function allMessages(group: string) {
  return world.store.read((groups) => groups.liveWindow(group));
}

function nextTurn(): Promise<false> {
  return new Promise((resolve) => setImmediate(() => resolve(false)));
}
