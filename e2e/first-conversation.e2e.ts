import { statSync } from 'node:fs';
import type { GroupEvent } from '@flowly/contract';
import { botMethods, groupErrorCodes } from '@flowly/contract';
import {
  Gate,
  GroupModel,
  makeBot,
  makeGroup,
  sendTo,
  settled,
  wholeHistory,
} from '@flowly/testing';
import { groupDatabase, readGroupValue } from './support/group-database';
import { useWorld } from './support/world';

/** The product's main job, from an empty folder on: these tests build on one another. */
const world = useWorld();

it('G004, X090: a fresh home has no groups and an empty database', async () => {
  const answer = await world.client.call('profiles.rooms.list', {});
  const { hostId } = await world.client.call('profiles.capabilities');
  expect(answer).toEqual({ hostId, rooms: [] });
  const { home } = world.system;
  expect(statSync(groupDatabase(home)).mode & 0o777).toBe(0o600);
  expect(readGroupValue(home, "SELECT value FROM room_store_meta WHERE key = 'revision'")).toBe(
    '0',
  );
  expect(readGroupValue(home, 'PRAGMA user_version')).toBe(4);
  expect(readGroupValue(home, 'PRAGMA application_id')).toBe(0x464c5952);
});

it('a fresh home has the bot `default` on the demo provider, which answers', async () => {
  const { profiles } = await world.client.call('profiles.list');
  expect(profiles).toMatchObject([
    {
      name: 'default',
      isDefault: true,
      displayName: 'Flowly',
      credentialPolicy: 'primary',
      stoppedByUser: false,
    },
  ]);
  const { provider } = await world.client.rpc('default', 'provider.active');
  expect(provider?.key).toBe('demo');
  const { runId } = await world.client.call('chat.send', {
    sessionKey: 'desktop:hello',
    message: 'Good morning',
  });
  const final = await world.client.waitFor(
    ({ event, data }) => event === 'chat' && data?.state === 'final',
  );
  expect(final).toMatchObject({ data: { runId, sessionKey: 'desktop:hello' } });
  expect(JSON.stringify(final)).toContain('Good morning');
});

it('G060: makes two bots and a group, posts, and both answers stream in', async () => {
  const { client, models } = world;
  await makeBot(client, 'ada', models, 'ada', { displayName: 'Ada' });
  await makeBot(client, 'bert', models, 'bert');
  const halves = { ada: ['The first ', 'answer.'], bert: ['Quite ', 'another one!'] };
  const gate = new Gate();
  for (const [model, [first = '', second = '']] of Object.entries(halves))
    models.script(model, [{ text: [first, gate.opened, second] }]);
  const reader = await world.connect();
  await reader.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  const group = await makeGroup(client, ['ada', 'bert']);

  const sent = await sendTo(client, group.id, 'What do you think?');

  expect(sent).toMatchObject({ running: true, activeProfiles: ['ada', 'bert'], messageCount: 1 });
  for (const watcher of [client, reader])
    for (const [member, [first]] of Object.entries(halves))
      await watcher.waitForGroup(
        group.id,
        ({ patch, room }) => (patch ?? room)?.streams[member] === first,
      );
  gate.open();
  const room = await settled(client, group.id);
  expect(room.runState).toMatchObject({ mode: 'panel', state: 'completed' });
  const history = await wholeHistory(client, group.id);
  expect(history.map(({ seq }) => seq)).toEqual([0, 1, 2]);
  expect(history[0]).toMatchObject({ role: 'user', content: 'What do you think?' });
  const given = history.slice(1).map(({ profile, content }) => [profile, content]);
  const answers = { ada: 'The first answer.', bert: 'Quite another one!' };
  expect(Object.fromEntries(given)).toEqual(answers);
  for (const watcher of [client, reader]) {
    await watcher.waitForGroup(group.id, isEnd);
    const events = watcher.groupEvents(group.id);
    expectStreamed(events, answers);
    const model = new GroupModel(group.id);
    for (const event of events) model.apply(event);
    expect(model.gaps).toEqual([]);
    expect(model.messages).toEqual(history);
    expect(model.view).toMatchObject({ running: false, activeProfiles: [], streams: {} });
  }
});

it('G191, G114: says what it can do', async () => {
  const { client } = world;
  const capabilities = await client.call('profiles.capabilities');
  expect(capabilities).toMatchObject({
    version: 2,
    profileRpcMethods: Object.values(botMethods)
      .map(({ wire }) => wire)
      .sort(),
    rooms: {
      errorCodes: groupErrorCodes,
      memberPolicies: {
        values: ['always', 'mentioned'],
        default: 'always',
        everyoneOverrides: true,
        silentWhenNoneAlways: true,
      },
    },
  });
  expect(groupErrorCodes).toHaveLength(22);
  expect([...groupErrorCodes].sort()).toEqual(groupErrorCodes);
  const system = await client.call('system.capabilities');
  expect(system).toMatchObject({ version: 1, runtime: { role: 'host', profile: 'default' } });
  expect(system['profileHost']).toEqual(capabilities);
});

function isEnd({ type, room }: GroupEvent): boolean {
  return type === 'run-state' && room?.running === false;
}

/** Each member's live text only grows, and is always the beginning of its answer. */
function expectStreamed(events: readonly GroupEvent[], answers: Record<string, string>): void {
  for (const [member, answer] of Object.entries(answers)) {
    const shown = events.flatMap(({ patch, room }) => (patch ?? room)?.streams[member] ?? []);
    for (const [index, text] of shown.entries()) {
      expect(answer.startsWith(text)).toBe(true);
      expect(text.length).toBeGreaterThanOrEqual(shown[index - 1]?.length ?? 0);
    }
  }
  const patches = events.filter(({ type }) => type === 'stream');
  expect(patches.length).toBeGreaterThan(0);
  for (const { patch } of patches) expect(patch).not.toHaveProperty('messages');
}
