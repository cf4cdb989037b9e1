import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Gate, getGroup, makeGroup, sendTo, settled, until, type Client } from '@flowly/testing';
import { groupPrefix, mediaNames } from './support/media';
import { privateSessions } from './support/private-sessions';
import { useWorld } from './support/world';

/** Bots that are deleted, in an installation with two runners. */
const world = useWorld({ bots: ['reviewer'], limits: { reconcileMs: 300 } });
beforeAll(() => world.system.add('bot-runner'));

const folder = (name: string) => path.join(world.system.home, 'profiles', name);
const botNames = async (client: Client) =>
  (await client.call('profiles.list')).profiles.map(({ name }) => name);
const prepare = (client: Client, name: string) => client.call('profiles.delete.prepare', { name });
const deleteBot = async (client: Client, name: string) => {
  const { confirmation } = await prepare(client, name);
  return client.call('profiles.delete.commit', { name, confirmation });
};
const deletedEvent = (client: Client, botId: string) =>
  client.waitFor(
    ({ event, data }) =>
      event === 'profile.event' &&
      data?.type === 'directory' &&
      data.data.action === 'deleted' &&
      data.data.botId === botId,
  );

it('G216: a bot is deleted by its own confirmation alone, and all who list bots are told', async () => {
  const { client } = world;
  await world.makeBot('writer');
  const watcher = await world.connect();
  await watcher.call('profiles.list');
  const prepared = await prepare(client, 'writer');
  expect(prepared).toMatchObject({ expiresInSeconds: 60, profile: { name: 'writer' } });
  const wrong = { name: 'writer', confirmation: 'not-the-confirmation' };
  expect(await client.refusal('profiles.delete.commit', wrong)).toMatchObject({
    code: 'DELETE_CONFIRMATION_INVALID',
    retryable: false,
  });
  expect(await botNames(client)).toContain('writer');
  const { confirmation, profile } = prepared;
  expect(await client.call('profiles.delete.commit', { name: 'writer', confirmation })).toEqual({
    ok: true,
    deleted: 'writer',
    botId: profile.botId,
  });
  expect(await botNames(client)).toEqual(['default', 'reviewer']);
  expect(await deletedEvent(watcher, profile.botId)).toMatchObject({
    data: { profile: 'writer', botId: profile.botId, data: { action: 'deleted' } },
  });
  expect(existsSync(folder('writer'))).toBe(false);
  expect(readdirSync(folder('.trash'))).toEqual([]);
  const used = await client.refusal('profiles.delete.commit', { name: 'writer', confirmation });
  expect(used.code).toBe('PROFILE_NOT_FOUND');
  const missing = await client.refusal('profiles.delete.commit', { name: 'reviewer' });
  expect(missing.code).toBe('INVALID_PARAMS');
  const standing = await client.refusal('profiles.delete.prepare', { name: 'default' });
  expect(standing).toMatchObject({ code: 'DEFAULT_PROFILE', retryable: false });
});

it('G112, X013: it leaves its groups; one with a single member left goes with everything', async () => {
  const { client, system } = world;
  await world.makeBot('writer');
  const memberPolicies = { writer: 'mentioned' };
  const three = await makeGroup(client, ['default', 'writer', 'reviewer'], { memberPolicies });
  const two = await makeGroup(client, ['default', 'writer']);
  const attachments = [{ fileName: 'a.bin', mimeType: 'x/y', content: 'AAAA' }];
  await sendTo(client, two.id, 'Hello everyone', { attachments });
  await settled(client, two.id);
  const ofTwo = (name: string) => name.startsWith(groupPrefix(two.id));
  expect(mediaNames(system.home).filter(ofTwo)).toHaveLength(1);
  expect(privateSessions(system.home, 'default')).toContain(two.id);
  const { mark } = client;
  await deleteBot(client, 'writer');
  // Its groups are done when the answer comes.
  const room = await getGroup(client, three.id);
  expect(room).toMatchObject({
    members: ['default', 'reviewer'],
    memberPolicies: { default: 'always', reviewer: 'always' },
  });
  expect(room.memberPolicies).not.toHaveProperty('writer');
  const gone = await client.refusal('profiles.rooms.get', { roomId: two.id });
  expect(gone.code).toBe('ROOM_NOT_FOUND');
  const told = await client.waitForGroup(two.id, ({ type }) => type === 'deleted', { since: mark });
  expect(Object.keys(told).sort()).toEqual(['hostId', 'roomId', 'type']);
  expect(mediaNames(system.home).filter(ofTwo)).toEqual([]);
  await until(
    () => !privateSessions(system.home, 'default').includes(two.id),
    10_000,
    'the private session stays',
  );
  const members = ['default', 'writer'];
  const refused = await client.refusal('profiles.rooms.create', { title: 'Again', members });
  expect(refused.code).toBe('PROFILE_NOT_FOUND'); // X005
});

it('a running turn holds it up; a running group is stopped', async () => {
  const { client, models } = world;
  await world.makeBot('writer');
  const gate = new Gate();
  const asked = models.callsOf('writer').length;
  models.script('writer', [{ gate: gate.opened, text: 'done' }]);
  const message = { sessionKey: 'ios:busy', message: 'Hello' };
  const { runId } = await client.rpc('writer', 'chat.send', message);
  await models.waitForCalls(asked + 1, { model: 'writer' });
  const { confirmation } = await prepare(client, 'writer');
  const busy = await client.refusal('profiles.delete.commit', { name: 'writer', confirmation });
  expect(busy).toMatchObject({ code: 'PROFILE_BUSY', retryable: true });
  gate.open();
  await client.waitFor(
    ({ event, data }) =>
      event === 'profile.event' && data?.type === 'chat' && data.data.runId === runId,
  );
  const { id } = await makeGroup(client, ['default', 'writer', 'reviewer']);
  const other = await makeGroup(client, ['default', 'writer', 'reviewer']);
  const never = new Gate();
  models.script('writer', [{ text: ['The first part', never.opened, ' and the rest'] }]);
  models.script('reviewer', [{ text: ['Mine', never.opened, ' too'] }]);
  await sendTo(client, id, '@writer go');
  await sendTo(client, other.id, '@reviewer go');
  for (const [group, member, text] of [
    [id, 'writer', 'The first part'],
    [other.id, 'reviewer', 'Mine'],
  ] as const)
    await client.waitForGroup(
      group,
      ({ patch, room }) => (patch ?? room)?.streams[member] === text,
    );

  await deleteBot(client, 'writer');

  for (const [group, member, content] of [
    [id, 'writer', 'The first part'],
    [other.id, 'reviewer', 'Mine'],
  ] as const) {
    const room = await getGroup(client, group);
    expect(room).toMatchObject({
      running: false,
      members: ['default', 'reviewer'],
      runState: { state: 'aborted' },
    });
    expect(room.messages?.at(-1)).toMatchObject({ profile: member, content, aborted: true });
  }
  never.open();
});

it('its name is free: who has it next knows nothing of the old', async () => {
  const { client, models } = world;
  await world.makeBot('writer', { soul: 'Old soul.' });
  const sessionKey = 'ios:kept';
  await client.rpc('writer', 'exec.policy.set', { security: 'deny', ask: 'off' });
  const say = async (message: string) => {
    const { runId } = await client.rpc('writer', 'chat.send', { sessionKey, message });
    await client.waitFor(
      ({ event, data }) =>
        event === 'profile.event' && data?.type === 'chat' && data.data.runId === runId,
    );
  };
  await say('An old secret');
  const { botId } = await deleteBot(client, 'writer');
  await world.makeBot('writer');
  const { profiles } = await client.call('profiles.list');
  const anew = profiles.find(({ name }) => name === 'writer');
  expect(anew?.botId).not.toBe(botId);
  expect(new Set(profiles.map(({ markSeed }) => markSeed)).size).toBe(profiles.length);
  expect(await client.rpc('writer', 'sessions.list')).toEqual({ sessions: [] });
  expect(await client.rpc('writer', 'exec.policy.get')).toMatchObject({
    security: 'allowlist',
    ask: 'on-miss',
    allowlist: [],
  });
  const { messages } = await client.rpc('writer', 'chat.history', { sessionKey });
  expect(messages).toEqual([]);
  await say('A new message');
  expect(JSON.stringify(models.callsOf('writer').at(-1)?.messages)).not.toMatch(/[Oo]ld/);
  await deleteBot(client, 'writer');
});

it('a deletion that everybody died of is finished and answered by those who come after', async () => {
  const { client, system } = world;
  await world.makeBot('writer');
  const { id } = await makeGroup(client, ['default', 'writer', 'reviewer']);
  const other = await world.connect();
  await system.service('group-orchestrator').kill();
  const answer = deleteBot(client, 'writer');
  await until(async () => !(await botNames(other)).includes('writer'), 10_000, 'it is not hidden');
  const runners = system.instances.filter(({ name }) => name === 'bot-runner');
  await Promise.all(runners.map((runner) => runner.kill()));
  expect(existsSync(folder('writer'))).toBe(true);
  for (const runner of runners) runner.start();
  system.service('group-orchestrator').start();
  expect(await answer).toMatchObject({ ok: true, deleted: 'writer' });
  expect((await getGroup(client, id)).members).toEqual(['default', 'reviewer']);
  expect(existsSync(folder('writer'))).toBe(false);
});
