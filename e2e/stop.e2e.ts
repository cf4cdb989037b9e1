import type { GroupEvent, GroupView } from '@flowly/contract';
import { Gate, makeGroup, sendTo, settled, wholeHistory, type Client } from '@flowly/testing';
import { watermarksOf } from './support/group-database';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer', 'reviewer'] });

const stop = (client: Client, roomId: string) => client.call('profiles.rooms.stop', { roomId });

/** Waits until the member's live text is this. */
const shows = (client: Client, groupId: string, member: string, text: string) =>
  client.waitForGroup(groupId, ({ patch, room }) => (patch ?? room)?.streams[member] === text);

const isEnd = ({ type, room }: GroupEvent) => type === 'run-state' && room?.running === false;

const transcript = (room: GroupView) =>
  room.messages?.map(({ profile, content, aborted }) => ({ by: profile, content, aborted }));

it('X060: stopping an idle group changes nothing and answers ok', async () => {
  const { client } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  const { hostId } = await client.call('profiles.capabilities');
  expect(await stop(client, id)).toEqual({ hostId, ok: true });
  await sendTo(client, id, '@writer hi');
  const before = await settled(client, id);
  expect(await stop(client, id)).toEqual({ hostId, ok: true });
  expect(await settled(client, id)).toEqual(before);
});

it('G070: a stop in mid-stream keeps the text so far, for good', async () => {
  const { client, models, system } = world;
  await client.call('profiles.rooms.list');
  const gate = new Gate();
  models.script('writer', [{ text: ['The first ', 'part', gate.opened, ' and the rest'] }]);
  const { id } = await makeGroup(client, ['default', 'writer']);
  await sendTo(client, id, '@writer inspect');
  await shows(client, id, 'writer', 'The first part');
  const { mark } = client;

  await stop(client, id);

  const stopped = await settled(client, id, 1_000);
  const expectStopped = (room: GroupView) => {
    expect(room).toMatchObject({
      running: false,
      activeProfiles: [],
      streams: {},
      messageCount: 2,
    });
    expect(room.runState).toMatchObject({
      state: 'aborted',
      members: { writer: { state: 'aborted' } },
    });
    expect(room.messages?.at(-1)).toMatchObject({
      role: 'assistant',
      profile: 'writer',
      content: 'The first part',
      aborted: true,
      durationMs: expect.any(Number),
    });
    expect(room.latestMessage).toMatchObject({ aborted: true });
  };
  expectStopped(stopped);
  expect(Number.isInteger(stopped.messages?.at(-1)?.durationMs)).toBe(true);
  expect(watermarksOf(system.home, id)).toMatchObject({ writer: 1 });

  await client.waitForGroup(id, isEnd, { since: mark });
  const [call] = models.callsOf('writer').slice(-1);
  expect(await call?.ended).toBe('closed'); // the abort has reached it
  gate.open();
  const late = await client.waitForGroup(id, ({ type }) => type === 'late-result');
  expect(late).toMatchObject({ profile: 'writer', room: { updatedAt: stopped.updatedAt } });
  expect(late.room?.runState?.members['writer']?.lateResult).toMatchObject({
    state: 'aborted',
    disposition: 'discarded',
  });
  expect(client.groupEvents(id, mark).map(({ type }) => type)).not.toContain('stream');

  const fresh = await world.restart();
  expectStopped(await settled(fresh, id, 5_000));
  models.script('writer', ['Going on']);
  await sendTo(fresh, id, '@writer go on');
  const went = await settled(fresh, id);
  expect(transcript(went)?.at(-1)).toEqual({
    by: 'writer',
    content: 'Going on',
    aborted: undefined,
  });
});

it('a stop before the first token posts an empty answer of the asked member', async () => {
  const { client, models } = world;
  models.script('writer', [{ fault: { kind: 'hang-before-headers' } }]);
  const { id } = await makeGroup(client, ['default', 'writer']);
  const asked = models.callsOf('writer').length;
  await sendTo(client, id, '@writer hi');
  await models.waitForCalls(asked + 1, { model: 'writer' });
  await client.waitForGroup(
    id,
    ({ room }) => room?.runState?.members['writer']?.state === 'running',
  );
  await stop(client, id);
  const room = await settled(client, id);
  expect(transcript(room)?.slice(1)).toEqual([{ by: 'writer', content: '', aborted: true }]);
});

it('a stop ends every member, each with its own text, and keeps answers that were whole', async () => {
  const { client, models } = world;
  const gate = new Gate();
  models.script('default', ['All done']);
  models.script('writer', [{ text: ['Half', gate.opened, 'never'] }]);
  models.script('reviewer', [{ text: ['Quarter', gate.opened, 'never'] }]);
  const { id } = await makeGroup(client, ['default', 'writer', 'reviewer']);
  await sendTo(client, id, 'Hello');
  await client.waitForGroup(id, ({ type, profile }) => type === 'updated' && profile === 'default');
  await shows(client, id, 'writer', 'Half');
  await shows(client, id, 'reviewer', 'Quarter');
  await stop(client, id);
  gate.open();
  const room = await settled(client, id);
  const answers = transcript(room)?.slice(1);
  expect(answers).toHaveLength(3);
  expect(answers).toEqual(
    expect.arrayContaining([
      { by: 'default', content: 'All done', aborted: undefined },
      { by: 'writer', content: 'Half', aborted: true },
      { by: 'reviewer', content: 'Quarter', aborted: true },
    ]),
  );
  expect(room.runState).toMatchObject({ members: { default: { state: 'completed' } } });
});

it('G077: a question to the user in a stopped answer needs nobody', async () => {
  const { client, models } = world;
  const gate = new Gate();
  models.script('writer', [{ text: ['@user choose a path', gate.opened, ' now'] }]);
  const { id } = await makeGroup(client, ['default', 'writer'], { title: 'Review' });
  await sendTo(client, id, '@writer decide');
  await shows(client, id, 'writer', '@user choose a path');
  const { mark } = client;
  await stop(client, id);
  gate.open();
  const end = await client.waitForGroup(id, isEnd, { since: mark });
  const { rooms } = await client.call('profiles.rooms.list', { includeMessages: false });
  const summary = rooms.find((room) => room.id === id);
  for (const view of [end.room, summary, await settled(client, id)])
    expect(view).toMatchObject({ needsUser: false, running: false, attentions: [] });
  const fresh = await world.restart();
  expect(await settled(fresh, id)).toMatchObject({ needsUser: false, attentions: [] });
  models.script('writer', ['Well, @User, which one?']);
  await sendTo(fresh, id, '@writer continue');
  expect(await settled(fresh, id)).toMatchObject({ needsUser: true });
});

it('a stop wins or the answer was there before it; never both, never a later post', async () => {
  const { client, models } = world;
  models.script('writer', [{ text: 'a b c d e f', tokenDelayMs: 4 }]);
  models.script('default', [{ text: 'g h i j k l', tokenDelayMs: 3 }]);
  for (let round = 0; round < 12; round++) {
    const { id } = await makeGroup(client, ['default', 'writer']);
    const asked = models.calls.length;
    await sendTo(client, id, 'Hello');
    await models.waitForCalls(asked + 1 + (round % 2));
    const pieces = models.calls.at(-1)?.pieceTimes ?? [];
    const deadline = performance.now() + 1_000;
    while (pieces.length < round % 7 && performance.now() < deadline)
      await new Promise((resolve) => setImmediate(resolve));
    await stop(client, id);
    const stopped = await settled(client, id, 3_000);
    const answers = stopped.messages?.slice(1) ?? [];
    const authors = answers.map(({ profile }) => profile);
    expect(new Set(authors).size).toBe(authors.length);
    for (const { profile, content, aborted } of answers) {
      const whole = profile === 'writer' ? 'a b c d e f' : 'g h i j k l';
      if (aborted === undefined) expect(content).toBe(whole);
      else expect(whole.startsWith(content)).toBe(true);
    }
    await Promise.all(models.calls.slice(asked).map(({ ended }) => ended));
    expect(await wholeHistory(client, id)).toEqual(stopped.messages);
  }
});
