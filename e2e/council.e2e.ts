import { Gate, getGroup, makeGroup, sendTo, settled, until } from '@flowly/testing';
import { modelsOf, useWorld } from './support/world';

const world = useWorld({ bots: ['writer', 'reviewer', 'editor'] });

const council = (members: readonly string[]) =>
  makeGroup(world.client, members, { title: 'Review board', mode: 'council' });

/** Posts and waits for the end; which models were asked, in order, and the group then. */
async function ask(groupId: string, content: string) {
  const before = world.models.calls.length;
  await sendTo(world.client, groupId, content);
  const room = await settled(world.client, groupId);
  return { calls: modelsOf(world.models.calls.slice(before)), room };
}

const promptsOf = (model: string): string[] =>
  world.models.callsOf(model).map((call) => call.messages.at(-1)?.content ?? '');

it('G080: goes round by round until nobody has something new to say', async () => {
  const { id } = await council(['default', 'writer']);
  world.models.script('default', ['First perspective', '(pass)']);
  world.models.script('writer', ['Second perspective']);
  const { calls, room } = await ask(id, 'Review this plan');
  expect(calls).toEqual(['default', 'writer', 'default']);
  expect(promptsOf('writer').at(-1)).toContain('Flowly: First perspective');
  expect(promptsOf('default').at(-1)).toContain('writer: Second perspective');
  expect(room.messages?.map(({ content }) => content)).toEqual([
    'Review this plan',
    'First perspective',
    'Second perspective',
  ]);
  expect(room.runState).toMatchObject({
    mode: 'council',
    state: 'completed',
    round: 2,
    turnCount: 3,
  });
});

it('names all who were called in the reply, and then only the one whose turn it is', async () => {
  const { id } = await council(['default', 'writer']);
  const gate = new Gate();
  world.models.script('default', [{ text: ['Thinking', gate.opened] }, '(pass)']);
  world.models.script('writer', ['(pass)']);
  const mark = world.client.mark;
  const sent = await sendTo(world.client, id, 'Go');
  expect(sent.activeProfiles).toEqual(['default', 'writer']);
  const shown = async () => (await getGroup(world.client, id)).streams['default'] === 'Thinking';
  await until(shown, 10_000, 'the first turn is not shown');
  expect(await getGroup(world.client, id)).toMatchObject({
    activeProfiles: ['default'],
    runState: { round: 1, turnCount: 1, members: { writer: { state: 'queued' } } },
  });
  gate.open();
  await settled(world.client, id);
  const active = world.client
    .groupEvents(id, mark)
    .map(({ room, patch }) => (room ?? patch)?.activeProfiles.join() ?? '');
  expect(active.filter((names, index) => names !== active[index - 1])).toEqual([
    'default',
    'writer',
    '',
  ]);
});

it('hears a member that an answer mentions, also one the user did not name', async () => {
  const { id } = await council(['default', 'writer', 'reviewer']);
  world.models.script('writer', ['Ask @reviewer about it', 'never']);
  world.models.script('reviewer', ['It is fine']);
  const { calls, room } = await ask(id, '@writer look');
  expect(calls).toEqual(['writer', 'reviewer']);
  expect(room.runState).toMatchObject({ state: 'completed', round: 2, turnCount: 2 });
  expect(Object.keys(room.runState?.members ?? {}).sort()).toEqual(['reviewer', 'writer']);
});

it('goes on after a failed turn, which counts, and gives what was missed again', async () => {
  const { id } = await council(['default', 'writer']);
  world.models.script('default', [{ fault: { kind: 'status', status: 401 } }]);
  world.models.script('writer', ['Over to @default', '(pass)']);
  const { calls, room } = await ask(id, 'Now');
  expect(calls).toEqual(['default', 'writer', 'default']);
  expect(room.runState).toMatchObject({
    state: 'partial',
    members: { default: { state: 'failed' }, writer: { state: 'completed' } },
  });
  expect(promptsOf('default').at(-1)).toContain('User: Now');
});

it('ends after ten turns, however much there is to say', async () => {
  const members = ['default', 'writer', 'reviewer', 'editor'];
  const { id } = await council(members);
  for (const name of members) world.models.script(name, [`Always more of ${name}`]);
  const { calls, room } = await ask(id, 'Talk');
  expect(calls).toEqual([...members, ...members, 'default', 'writer']);
  expect(room.runState).toMatchObject({ state: 'completed', round: 3, turnCount: 10 });
});

it('ends after three rounds', async () => {
  const members = ['default', 'writer'];
  const { id } = await council(members);
  for (const name of members) world.models.script(name, [`Always more of ${name}`]);
  const { calls, room } = await ask(id, 'Talk');
  expect(calls).toEqual([...members, ...members, ...members]);
  expect(room.runState).toMatchObject({ state: 'completed', round: 3, turnCount: 6 });
});

it('is stopped in its turn: what was said stays, and nobody is asked after it', async () => {
  const { id } = await council(['default', 'writer']);
  world.models.script('default', [{ text: ['Half', new Gate().opened] }]);
  await sendTo(world.client, id, 'Go');
  const shown = async () => (await getGroup(world.client, id)).streams['default'] === 'Half';
  await until(shown, 10_000, 'the turn is not shown');
  const before = world.models.calls.length;
  await world.client.call('profiles.rooms.stop', { roomId: id });
  const room = await getGroup(world.client, id);
  expect(room.runState).toMatchObject({
    state: 'aborted',
    members: { default: { state: 'aborted' }, writer: { state: 'aborted' } },
  });
  expect(room.messages?.map(({ content, aborted }) => [content, aborted])).toEqual([
    ['Go', undefined],
    ['Half', true],
  ]);
  world.models.script('default', ['(pass)']);
  world.models.script('writer', ['(pass)']);
  await ask(id, 'Again');
  expect(modelsOf(world.models.calls.slice(before))).toEqual(['default', 'writer']);
});
