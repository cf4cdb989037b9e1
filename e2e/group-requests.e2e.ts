import { CallError, Gate, getGroup, makeGroup, sendTo, settled } from '@flowly/testing';
import {
  answer,
  approve,
  askAlways,
  askedIn,
  asks,
  closing,
  openAt,
  opening,
  runs,
  toolResults,
  writerOf,
} from './support/group-requests';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });
const UNKNOWN = '11111111-1111-4111-8111-111111111111';

beforeAll(() => askAlways(world.client, 'default', 'writer'));

it('X056, G140: an approval is asked for in the group and given there', async () => {
  const { client } = world;
  await client.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  const gate = new Gate();
  const finished = { text: ['Fin', gate.opened, 'ished'] };
  const pending = await askedIn(world, [runs('echo safe', 'I will look. '), finished]);
  const { id, attention, room } = pending;
  expect(attention).toEqual({
    kind: 'approval',
    profile: 'writer',
    id: expect.stringMatching(/^[0-9a-f]{16}$/),
    request: {
      id: attention.id,
      command: 'echo safe',
      expiresAt: expect.any(Number),
      sessionKey: `desktop:profile-room:${id}`,
    },
  });
  const activity = {
    id: 'call-1',
    profile: 'writer',
    toolName: 'exec',
    argumentsJson: '{"command":"echo safe"}',
    state: 'running',
    startedAt: expect.any(Number),
  };
  const waiting = { running: true, needsUser: true, attentions: [attention], streams: {} };
  expect(room).toMatchObject({ ...waiting, activeProfiles: ['writer'] });
  expect(await getGroup(client, id)).toMatchObject({ ...waiting, activities: [activity] });
  expect(await writerOf(client, id)).toMatchObject({ state: 'needs_user', attention });
  expect(await openAt(client, 'writer')).toEqual([attention.id]);

  const { mark } = client;
  expect(await approve(client, pending)).toEqual({ hostId: expect.any(String), ok: true });
  const { patch } = await client.waitForGroup(id, ({ type }) => type === 'activity', {
    since: mark,
  });
  expect(patch).toMatchObject({
    running: true,
    activities: [{ ...activity, state: 'completed' }],
  });
  await closing(client, id, mark);
  gate.open();
  const done = await settled(client, id);
  expect(done).toMatchObject({ needsUser: false, attentions: [], activities: [] });
  expect(done.messages?.at(-1)).toMatchObject({
    profile: 'writer',
    content: 'Finished',
    toolCalls: [{ id: 'call-1', name: 'exec', argumentsJson: '{"command":"echo safe"}' }],
  });
  expect(toolResults(world, 'writer').join()).toContain('safe');
  expect(JSON.stringify(client.groupEvents(id))).not.toContain('drop-me');
  const again = await client.refusal('profiles.rooms.approval.resolve', {
    roomId: id,
    id: attention.id,
    decision: 'deny',
  });
  expect(again).toMatchObject({ code: 'ROOM_REQUEST_CLOSED', retryable: false });
});

it('a refusal is heard by the model, which goes on', async () => {
  const { client } = world;
  const pending = await askedIn(world, [runs('echo never-said'), 'Then not']);
  await approve(client, pending, 'deny');
  const done = await settled(client, pending.id);
  expect(done.messages?.at(-1)?.content).toBe('Then not');
  expect(toolResults(world, 'writer').join()).not.toContain('never-said\n');
});

it('G077: a question is answered in the group; the group says that it waits', async () => {
  const { client } = world;
  const pending = await askedIn(world, [asks('Which one?', ['Tea', 'Coffee']), 'So be it']);
  const { id, attention } = pending;
  expect(attention).toMatchObject({
    kind: 'clarify',
    request: { question: 'Which one?', choices: ['Tea', 'Coffee'] },
  });
  expect(await getGroup(client, id)).toMatchObject({ needsUser: true, attentions: [attention] });
  const wrongKind = await client.refusal('profiles.rooms.approval.resolve', {
    roomId: id,
    id: attention.id,
    decision: 'allow-once',
  });
  expect(wrongKind.code).toBe('ROOM_REQUEST_CLOSED');
  for (const said of ['', 'x'.repeat(32_001), 7]) {
    const params = { roomId: id, id: attention.id, answer: said };
    const refused = await client.refusal('profiles.rooms.clarify.resolve', params);
    expect(refused.code).toBe('INVALID_PARAMS');
  }
  await answer(client, pending, 'Coffee, please');
  const done = await settled(client, id);
  expect(done).toMatchObject({ needsUser: false, attentions: [] });
  expect(done.messages?.at(-1)?.content).toBe('So be it');
  expect(toolResults(world, 'writer').join()).toContain('Coffee, please');
});

it('G077: a patch of another member’s words shows who waits', async () => {
  const { client, models } = world;
  const [gate, last] = [new Gate(), new Gate()];
  models.script('default', [{ text: ['One ', gate.opened, 'two ', last.opened, 'three'] }]);
  models.script('writer', [asks('Which one?'), 'So be it']);
  const { id } = await makeGroup(client, ['default', 'writer']);
  await sendTo(client, id, 'Hello');
  const pending = await opening(client, id);
  const { mark } = client;
  gate.open();
  const { patch } = await client.waitForGroup(id, (event) => event.patch !== undefined, {
    since: mark,
  });
  expect(patch).toMatchObject({
    needsUser: true,
    attentions: [pending.attention],
    activities: [{ profile: 'writer', toolName: 'clarify', argumentsJson: '{}' }],
  });
  last.open();
  await answer(client, pending, 'This');
  await settled(client, id);
  models.script('default', ['Hello from default']);
});

it('an answer in the bot’s own view closes the request of the group', async () => {
  const { client } = world;
  const pending = await askedIn(world, [runs('echo elsewhere'), 'Done']);
  const { mark } = client;
  const { id } = pending.attention;
  await client.rpc('writer', 'exec.approval.resolve', { id, decision: 'allow-once' });
  await closing(client, pending.id, mark);
  const done = await settled(client, pending.id);
  expect(done.messages?.at(-1)?.content).toBe('Done');
  await expect(approve(client, pending)).rejects.toMatchObject({ code: 'ROOM_REQUEST_CLOSED' });
});

it('of answers in several places at once exactly one is taken', async () => {
  const { client } = world;
  const other = await world.connect();
  for (let round = 0; round < 5; round++) {
    const pending = await askedIn(world, [runs(`echo round-${round}`), 'Done']);
    const { id } = pending.attention;
    const outcomes = await Promise.allSettled([
      approve(client, pending),
      approve(other, pending, 'deny'),
      client.rpc('writer', 'exec.approval.resolve', { id, decision: 'allow-once' }),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') continue;
      const code = index === 2 ? 'NOT_FOUND' : 'ROOM_REQUEST_CLOSED';
      expect(outcome.reason).toBeInstanceOf(CallError);
      expect(outcome.reason).toMatchObject({ code });
    }
    expect(await settled(client, pending.id)).toMatchObject({ attentions: [] });
  }
});

it('each of two members that wait hears its own answer only', async () => {
  const { client, models } = world;
  models.script('writer', [runs('echo of-writer'), 'Writer done']);
  models.script('default', [asks('And you?'), 'Default done']);
  const { id } = await makeGroup(client, ['default', 'writer']);
  await sendTo(client, id, 'Hello');
  await client.waitForGroup(id, ({ room }) => room?.attentions.length === 2);
  const { attentions } = await getGroup(client, id);
  expect(attentions.map(({ profile, kind }) => [profile, kind])).toEqual([
    ['default', 'clarify'],
    ['writer', 'approval'],
  ]);
  const [question, command] = attentions;
  if (!question || !command) throw new Error('both wait');
  const refused = await client.refusal('profiles.rooms.approval.resolve', {
    roomId: id,
    id: question.id,
    decision: 'allow-once',
  });
  expect(refused.code).toBe('ROOM_REQUEST_CLOSED');
  await client.call('profiles.rooms.approval.resolve', {
    roomId: id,
    id: command.id,
    decision: 'allow-once',
  });
  await client.waitForGroup(id, ({ type, profile }) => type === 'updated' && profile === 'writer');
  const half = await getGroup(client, id);
  expect(half).toMatchObject({ running: true, needsUser: true, activeProfiles: ['default'] });
  expect(half.attentions).toEqual([question]);
  await client.call('profiles.rooms.clarify.resolve', {
    roomId: id,
    id: question.id,
    answer: 'Me too',
  });
  const done = await settled(client, id);
  expect(done.runState?.state).toBe('completed');
  models.script('default', ['Hello from default']);
});

it('in a council the next turn waits for the one that asks', async () => {
  const { client, models } = world;
  models.script('default', [asks('Tea?'), 'Tea it is', '(pass)']);
  models.script('writer', ['I would rather have coffee', '(pass)']);
  const { id } = await makeGroup(client, ['default', 'writer'], { mode: 'council' });
  const asked = models.callsOf('writer').length;
  await sendTo(client, id, 'What shall we drink?');
  const pending = await opening(client, id);
  expect(pending.room).toMatchObject({ activeProfiles: ['default'], needsUser: true });
  expect(models.callsOf('writer')).toHaveLength(asked);
  await answer(client, pending, 'Yes');
  const done = await settled(client, id);
  expect(done).toMatchObject({ attentions: [], runState: { state: 'completed' } });
  expect(done.messages?.map(({ content }) => content)).toEqual([
    'What shall we drink?',
    'Tea it is',
    'I would rather have coffee',
  ]);
  models.script('default', ['Hello from default']);
});

it('a turn asks for one thing after the other', async () => {
  const { client } = world;
  const script = [runs('echo one'), runs('echo two'), 'Both done'];
  const first = await askedIn(world, script);
  const { mark } = client;
  await approve(client, first);
  const second = await opening(client, first.id, mark);
  expect(second.attention.request).toMatchObject({ command: 'echo two' });
  expect(second.room.attentions).toHaveLength(1);
  await approve(client, second);
  expect((await settled(client, first.id)).messages?.at(-1)?.content).toBe('Both done');
});

it('X062: nothing is pending in an unknown group or an idle one', async () => {
  const { client } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  for (const roomId of [UNKNOWN, id]) {
    for (const [method, said] of [
      ['profiles.rooms.approval.resolve', { decision: 'deny' }],
      ['profiles.rooms.clarify.resolve', { answer: 'yes' }],
    ] as const) {
      const refused = await client.refusal(method, { roomId, id: 'request-1', ...said });
      expect(refused).toMatchObject({ code: 'ROOM_REQUEST_CLOSED', retryable: false });
    }
  }
});

it('X063, X064: the order of the checks', async () => {
  const { client } = world;
  const pending = await askedIn(world, [runs('echo checks'), 'Done']);
  const { id: roomId, attention } = pending;
  const method = 'profiles.rooms.approval.resolve';
  const refuse = async (params: Record<string, unknown>) =>
    (await client.refusal(method, { roomId, id: attention.id, ...params })).code;
  for (const id of ['', 'x'.repeat(257), 7, null])
    expect(await refuse({ id, roomId: UNKNOWN })).toBe('INVALID_PARAMS');
  expect(await refuse({ roomId: 'abc', id: '' })).toBe('ROOM_INVALID');
  expect(await refuse({ decision: 'maybe' })).toBe('INVALID_PARAMS');
  expect(await refuse({ decision: undefined })).toBe('INVALID_PARAMS');
  expect(await refuse({ id: 'another', decision: 'maybe' })).toBe('ROOM_REQUEST_CLOSED');
  expect(await writerOf(client, roomId)).toMatchObject({ state: 'needs_user' });
  await approve(client, pending);
  await settled(client, roomId);
  expect(await refuse({ decision: 'maybe' })).toBe('ROOM_REQUEST_CLOSED');
});
