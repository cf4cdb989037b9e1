import { accepted, ended, GroupWorld, until, type Given } from '../orchestrator.harness';
import { stepAccepted } from './step-accepted';
import { stepEnded } from './step-ended';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start();
  group = await world.create();
});
afterEach(() => world.stop());

const accept = (given: Given, member: string) =>
  stepAccepted(world.orchestrator, accepted(given, member));
const end = (given: Given, member: string, changes: Parameters<typeof ended>[2] = {}) =>
  stepEnded(world.orchestrator, ended(given, member, changes));
const memberOf = async (member: string) => (await world.record(group)).run?.members[member];

it('X050: events of a turn come in their order, the run ends after its last member', async () => {
  const given = await world.send(group, '@writer hi');
  await accept(given, 'writer');
  await end(given, 'writer');
  await world.orchestrator.relay.drain();
  await until(() => world.events.length >= 5);
  const shown = world.events.slice(1).map(({ type, room }) => [type, room?.running]);
  expect(shown).toEqual([
    ['updated', true],
    ['readiness', true],
    ['updated', true],
    ['run-state', false],
  ]);
  expect(world.events[3]).toMatchObject({ profile: 'writer', appended: [{ durationMs: 7 }] });
});

it('the event of a failure shows the member as failed, and the run as running', async () => {
  const given = await world.send(group, '@writer hi');
  await end(given, 'writer', { state: 'error', errorMessage: 'no', text: '' });
  await world.orchestrator.relay.drain();
  await until(() => world.events.at(-1)?.type === 'run-state');
  expect(world.events.at(-2)).toMatchObject({
    type: 'error',
    room: {
      running: true,
      activeProfiles: [],
      runState: { members: { writer: { state: 'failed' } } },
    },
  });
});

it('an end that comes before its acceptance counts as both', async () => {
  const given = await world.send(group, '@writer hi');
  await end(given, 'writer');
  await accept(given, 'writer');
  const room = await world.get(group);
  expect(room.runState?.members['writer']?.state).toBe('completed');
  expect(room.readiness['writer']?.state).toBe('ready');
});

it('the first end of a step counts; a repeated or another one changes nothing', async () => {
  const given = await world.send(group);
  await end(given, 'writer');
  const before = await world.record(group);
  await end(given, 'writer');
  await end(given, 'writer', { state: 'error', errorMessage: 'no', text: '' });
  expect(await world.record(group)).toEqual(before);
  expect(await world.contents(group)).toEqual(['Hello', 'answer of writer']);
});

it('two deliveries of one end at the same time make one answer', async () => {
  const given = await world.send(group);
  await Promise.all([end(given, 'writer'), end(given, 'writer')]);
  await end(given, 'default');
  expect(await world.contents(group)).toEqual(['Hello', 'answer of writer', 'answer of default']);
  expect((await world.record(group)).run?.state).toBe('completed');
});

it('an end of an older run is dropped, and ends what was awaited of it', async () => {
  const old = await world.send(group, '@writer one');
  await world.command('groups.stop', { roomId: group });
  const given = await world.send(group, '@writer two');
  const before = await world.record(group);
  await end(old, 'writer', { text: 'of the old run' });
  expect(await world.record(group)).toEqual(before);
  expect(await world.runState(old)).toBeNull();
  await end(given, 'writer');
  expect(await world.contents(group)).toEqual(['@writer one', '@writer two', 'answer of writer']);
});

it('G073: a terminal of a member that has failed is kept as a discarded late result, once', async () => {
  const given = await world.send(group);
  await end(given, 'default');
  await end(given, 'writer', { state: 'error', text: '', errorMessage: 'timed out' });
  await end(given, 'writer', { text: 'too late' });
  const late = (await memberOf('writer'))?.lateResult;
  expect(late).toMatchObject({ state: 'final', disposition: 'discarded' });
  await end(given, 'writer', { aborted: true });
  expect((await memberOf('writer'))?.lateResult).toEqual(late);
  expect(await world.contents(group)).toEqual(['Hello', 'answer of default']);
  expect((await world.record(group)).watermarks['writer']).toBe(0);
  await until(() => world.events.some(({ type }) => type === 'late-result'));
});

it.each([
  ['a pass', { text: '(pass)' }, 'completed', 1],
  ['an error', { state: 'error', text: '', errorMessage: 'No luck.' }, 'failed', 0],
  ['an interruption', { state: 'error', text: '', errorCode: 'RUN_INTERRUPTED' }, 'stranded', 0],
  ['a stop that was not the group’s', { aborted: true }, 'failed', 0],
] as const)('%s posts nothing and leaves the right watermark', async (_, changes, state, mark) => {
  const given = await world.send(group, '@writer hi');
  await end(given, 'writer', changes);
  expect((await memberOf('writer'))?.state).toBe(state);
  expect((await world.record(group)).watermarks['writer']).toBe(mark);
  expect(await world.contents(group)).toEqual(['@writer hi']);
});

it('boundaries and watermarks move with the window when it is trimmed during a run', async () => {
  const long = '漢'.repeat(30_000);
  await world.store.transaction((groups) => {
    let record = groups.findGroup(group);
    for (let n = 0; n < 69 && record; n++) {
      const payload = { id: `m${n}`, role: 'user' as const, content: long, createdAt: 'now' };
      record = groups.appendMessage(record, payload).group;
    }
    if (record) groups.updateGroup(record);
  });
  const given = await world.send(group);
  const { live, run } = await world.record(group);
  expect(run?.members['writer']?.boundary).toBe(live);
  await end(given, 'default', { text: long });
  await end(given, 'default', { text: long });
  const trimmed = await world.record(group);
  expect(trimmed.live).toBeLessThan(trimmed.total);
  const gone = trimmed.total - trimmed.live;
  expect(trimmed.run?.members['writer']?.boundary).toBe(71 - 1 - gone);
  await end(given, 'writer');
  const done = await world.record(group);
  expect(done.watermarks).toEqual({ default: 70 - gone, writer: 70 - gone });
  await world.send(group, '@writer next');
  const order = world.orders.at(-1);
  expect(order?.type === 'step' && order.prompt).toContain('User: @writer next');
  expect(order?.type === 'step' && order.prompt).not.toContain('User: Hello');
});

it('large prompts and answers go by key', async () => {
  const content = 'x'.repeat(32_000);
  for (let n = 0; n < 10; n++) {
    const given = await world.send(group, `@default ${content.slice(10)}`);
    await end(given, 'default', { text: content });
  }
  const given = await world.send(group, '@writer hi');
  const order = world.orders.at(-1);
  expect(order?.type === 'step' && order.prompt.length).toBeGreaterThan(300_000);
  await end(given, 'writer');
  expect((await world.record(group)).run?.state).toBe('completed');
});
