import { accepted, ended, GroupWorld, until, type Given } from '../orchestrator.harness';
import { closed, noteCall, opened } from '../requests.harness';
import { reconcileGroups } from './reconciler';
import { readRunSteps } from './run-steps';
import { requestClosed } from './request-closed';
import { requestOpened } from './request-opened';
import { stepAccepted } from './step-accepted';
import { stepEnded } from './step-ended';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start();
  group = await world.create();
});
afterEach(() => world.stop());

const REQUEST = '0123456789abcdef';
const accept = (given: Given, member = 'writer') =>
  stepAccepted(world.orchestrator, accepted(given, member));
const open = (given: Given, id = REQUEST, request: Parameters<typeof opened>[3] = {}) =>
  requestOpened(world.orchestrator, opened(given, 'writer', id, request));
const close = (given: Given, id = REQUEST) =>
  requestClosed(world.orchestrator, closed(given, 'writer', id));
const begin = async (content = '@writer hi') => {
  const given = await world.send(group, content);
  for (const member of Object.keys(given.steps)) await accept(given, member);
  return given;
};
const stateOf = async (member = 'writer') =>
  (await world.record(group)).run?.members[member]?.state;
const told = async () => {
  await world.orchestrator.relay.drain();

  const events = world.events.filter(({ type }) => type === 'attention');
  return events.map(({ profile, room }) => [profile, room?.attentions.map(({ id }) => id)]);
};

it('X056: a request makes the member wait for its user, and its close lets it go on', async () => {
  const given = await begin();
  await open(given, REQUEST, { command: 'echo safe', expiresAt: 12.5 });
  const request = { id: REQUEST, command: 'echo safe', expiresAt: 12.5 };
  const attention = { kind: 'approval', profile: 'writer', id: REQUEST, request };
  expect(await world.get(group)).toMatchObject({
    running: true,
    activeProfiles: ['writer'],
    needsUser: true,
    attentions: [attention],
    runState: { members: { writer: { state: 'needs_user', attention } } },
  });
  await close(given);
  const after = await world.get(group);
  expect(after).toMatchObject({ running: true, needsUser: false, attentions: [] });
  expect(after.runState?.members['writer']).not.toHaveProperty('attention');
  expect(await stateOf()).toBe('running');
  await until(async () => (await told()).length === 2);
  expect(await told()).toEqual([
    ['writer', [REQUEST]],
    [undefined, []],
  ]);
});

it('a close that comes before its opening is remembered, and the opening does nothing', async () => {
  const given = await begin();
  await close(given);
  const before = await world.record(group);
  await open(given);
  expect(await world.record(group)).toEqual(before);
  await open(given, 'another');
  expect(await stateOf()).toBe('needs_user');
});

it('what is told twice is told to clients once', async () => {
  const given = await begin();
  for (let times = 0; times < 3; times++) await open(given);
  for (let times = 0; times < 3; times++) await close(given);
  await open(given);
  await until(async () => (await told()).length === 2);
  expect(await stateOf()).toBe('running');
});

it('an opening that comes before its acceptance counts as both', async () => {
  const given = await world.send(group, '@writer hi');
  await open(given);
  await accept(given);
  expect(await stateOf()).toBe('needs_user');
  expect((await world.get(group)).readiness['writer']?.state).toBe('ready');
  const steps = readRunSteps(await world.runState(given));
  expect(steps?.steps[given.steps['writer'] ?? '']?.acceptedAt).toEqual(expect.any(Number));
  await until(() => world.events.some(({ type }) => type === 'attention'));
  expect(world.events.slice(-2).map(({ type }) => type)).toEqual(['readiness', 'attention']);
});

it('the next request is shown although the close of the first was not heard', async () => {
  const given = await begin();
  await open(given, 'first');
  await open(given, 'second');
  await open(given, 'first');
  expect((await world.get(group)).attentions.map(({ id }) => id)).toEqual(['second']);
  await close(given, 'first');
  expect(await stateOf()).toBe('needs_user');
});

it('a request that the bot no longer tells with its step is closed, and opens again when it does', async () => {
  const given = await begin();
  await open(given);
  for (let times = 0; times < 2; times++) await accept(given);
  await open(given);
  for (let times = 0; times < 2; times++) await accept(given);
  expect(await stateOf()).toBe('needs_user');
  await accept(given);
  expect(await world.get(group)).toMatchObject({ needsUser: false, attentions: [] });
  await open(given);
  expect(await stateOf()).toBe('needs_user');
});

it.each([
  ['an answer', {}, 'completed'],
  ['a pass', { text: '(pass)' }, 'completed'],
  ['an error', { state: 'error', text: '', errorMessage: 'No luck.' }, 'failed'],
] as const)('%s while the member waits ends its request with its turn', async (_, end, state) => {
  const given = await begin();
  await open(given);
  await stepEnded(world.orchestrator, ended(given, 'writer', end));
  const room = await world.get(group);
  expect(room).toMatchObject({ running: false, needsUser: false, attentions: [] });
  expect(room.runState?.members['writer']).not.toHaveProperty('attention');
  expect(await stateOf()).toBe(state);
  await open(given, 'late');
  await close(given);
  expect(await stateOf()).toBe(state);
});

it('G070: a stop while the member waits ends its request and keeps its tool calls', async () => {
  const given = await begin('Hello');
  await noteCall(world, given, 'writer', {
    id: 'read-1',
    name: 'read_file',
    argumentsJson: '{"path":"/workspace/report.md","secret":"drop-me"}',
    state: 'running',
    startedAt: 1,
  });
  await open(given);
  expect((await world.get(group)).activities).toEqual([
    {
      id: 'read-1',
      profile: 'writer',
      toolName: 'read_file',
      argumentsJson: '{"path":"/workspace/report.md"}',
      state: 'running',
      startedAt: 1,
    },
  ]);
  await world.write(given, 'writer', 'so far');
  await world.command('groups.stop', { roomId: group });
  const room = await world.get(group);
  expect(room).toMatchObject({ needsUser: false, attentions: [], activities: [], streams: {} });
  const [, ofDefault, ofWriter] = room.messages ?? [];
  expect(ofDefault).toMatchObject({ profile: 'default', content: '', aborted: true });
  expect(ofDefault).not.toHaveProperty('toolCalls');
  const argumentsJson = '{"path":"/workspace/report.md"}';
  expect(ofWriter).toMatchObject({
    content: 'so far',
    aborted: true,
    toolCalls: [{ id: 'read-1', name: 'read_file', argumentsJson }],
  });
  await open(given, 'late');
  expect(await world.get(group)).toMatchObject({ running: false, attentions: [] });
  await until(() => world.events.some(({ type }) => type === 'run-state'));
  expect(JSON.stringify(world.events)).not.toContain('drop-me');
});

it('G140: an answer carries the tool calls it took, with what may be shown of them', async () => {
  const given = await begin();
  const call = { id: 'call-1', name: 'exec', argumentsJson: '{"command":"ls","env":"drop-me"}' };
  await stepEnded(world.orchestrator, ended(given, 'writer', { toolCalls: [call] }));
  const [, answer] = (await world.get(group)).messages ?? [];
  expect(answer?.toolCalls).toEqual([{ ...call, argumentsJson: '{"command":"ls"}' }]);
});

it('G074: an answer asks for the user until the user speaks; a stopped one asks nothing', async () => {
  const first = await begin();
  await stepEnded(world.orchestrator, ended(first, 'writer', { text: 'Over to @User now' }));
  expect((await world.get(group)).needsUser).toBe(true);
  const second = await begin('@writer go on');
  expect((await world.get(group)).needsUser).toBe(false);
  await world.write(second, 'writer', '@user decide');
  await world.command('groups.stop', { roomId: group });
  expect((await world.get(group)).needsUser).toBe(false);
  const third = await begin('continue');
  await stepEnded(world.orchestrator, ended(third, 'writer', { text: '@user which one?' }));
  expect(await world.get(group)).toMatchObject({ running: true, needsUser: true });
});

it('the time of a turn runs on while it waits, and ends its request', async () => {
  await world.stop();
  world = await GroupWorld.start({ reconcileMs: 40 }, 60);
  group = await world.create();
  const given = await begin();
  await open(given);
  await until(async () => {
    await reconcileGroups(world.orchestrator);
    return (await stateOf()) === 'failed';
  });
  expect(await world.get(group)).toMatchObject({
    running: false,
    needsUser: false,
    attentions: [],
  });
  await until(() => world.orders.some(({ type }) => type === 'abort'));
});

it('a request of an older run opens nothing', async () => {
  const old = await begin();
  await world.command('groups.stop', { roomId: group });
  await begin('@writer again');
  const before = await world.record(group);
  await open(old);
  await close(old);
  expect(await world.record(group)).toEqual(before);
});
