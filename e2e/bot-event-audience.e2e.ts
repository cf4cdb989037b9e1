import { getGroup, makeGroup, sendTo, settled, Gate, type Client } from '@flowly/testing';
import { Conversation } from './support/conversation';
import { answer, approve, askAlways, asks, closing, opening, runs } from './support/group-requests';
import { Requests } from './support/requests';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });
const BOTS = ['default', 'writer'];
const SESSION = 'desktop:in-the-open';

beforeAll(() => askAlways(world.client, ...BOTS));

/** A socket that has asked for all it may hear, and has tried to hear more. */
async function everywhere(groupSession: string): Promise<Client> {
  const ear = await world.connect();
  for (const method of ['profiles.capabilities', 'profiles.list', 'profiles.statuses'] as const)
    await ear.call(method);
  await ear.call('chat.history', { sessionKey: SESSION });
  for (const bot of BOTS) await ear.rpc(bot, 'chat.history', { sessionKey: SESSION });
  const internal = { sessionKey: groupSession, message: 'Let me hear', runId: 'x' };
  for (const method of ['chat.history', 'chat.send', 'chat.abort']) {
    const calls: [string, object][] = BOTS.map((name) => [
      'profiles.rpc',
      { name, method, params: internal },
    ]);
    for (const [wire, params] of [...calls, [method, internal] as const])
      expect((await ear.refusal(wire, params)).code).toBe('REMOTE_SESSION_DENIED');
  }
  return ear;
}

/** The member speaks, runs a command with consent, asks its user, and speaks again. */
async function useEverything(bot: string, groupId: string, ear: Client): Promise<void> {
  const { client, models } = world;
  models.script(bot, [runs('echo whispered', 'I whisper. '), asks('Whispered?'), 'A whisper.']);
  const { mark } = client;
  await sendTo(client, groupId, `@${bot} go on`);
  const pending = await opening(client, groupId, mark);
  const { statuses } = await ear.call('profiles.statuses');
  expect(statuses.filter((status) => 'needsInput' in status)).toEqual([]);
  const afterwards = client.mark;
  await approve(client, pending);
  await closing(client, groupId, afterwards);
  await answer(client, await opening(client, groupId, afterwards), 'Whisper on');
  expect((await settled(client, groupId)).latestMessage?.content).toBe('A whisper.');
}

async function speakAndBeStopped(bot: string, groupId: string): Promise<void> {
  const { client, models } = world;
  const gate = new Gate();
  models.script(bot, [{ text: ['A whisper', gate.opened] }]);
  await sendTo(client, groupId, `@${bot} again`);
  await client.waitForGroup(groupId, ({ patch }) => patch?.streams[bot] === 'A whisper');
  await client.call('profiles.rooms.stop', { roomId: groupId });
  gate.open();
  expect((await settled(client, groupId)).runState?.state).toBe('aborted');
}

it('what bots do in a group is told in the group alone, whoever listens to the bots', async () => {
  const { client, models } = world;
  const { id } = await makeGroup(client, BOTS);
  const ear = await everywhere(`desktop:profile-room:${id}`);
  const stranger = await world.connect();
  for (const bot of BOTS) {
    await useEverything(bot, id, ear);
    await speakAndBeStopped(bot, id);
  }
  expect((await getGroup(client, id)).messageCount).toBe(8);
  await client.call('profiles.rooms.delete', { roomId: id });

  for (const bot of BOTS) {
    const way = bot === 'default' ? 'straight' : 'rpc';
    const chat = new Conversation(client, SESSION, way, bot);
    const requests = new Requests(client, way, bot);
    models.script(bot, [runs('echo aloud'), 'Said aloud.']);
    const { runId } = await chat.send('Speak up');
    await requests.decide((await requests.approval(SESSION)).id, 'allow-once');
    await chat.terminal(runId);
    await ear.waitFor(
      (frame) =>
        frame.event === 'profile.event' &&
        frame.data?.profile === bot &&
        frame.data.type === 'chat' &&
        frame.data.data.state === 'final',
    );
  }
  await stranger.waitFor(({ event }) => event === 'tool.complete');
  for (const { frames } of [ear, stranger]) {
    const heard = JSON.stringify(frames);
    expect(heard).toContain('aloud');
    expect(heard).not.toMatch(/whisper/i);
    expect(heard).not.toContain(id);
    expect(heard).not.toContain('profile-room:');
  }
  for (const bot of BOTS) {
    const { sessions } = await ear.rpc(bot, 'sessions.list');
    expect(sessions.map(({ key }) => key)).toEqual([SESSION]);
  }
});
