import { makeGroup, sendTo, settled, wholeHistory } from '@flowly/testing';
import { watermarksOf } from './support/group-database';
import { useWorld } from './support/world';

const world = useWorld({
  bots: ['writer'],
  env: { FLOWLY_MEMBER_TIMEOUT_SECONDS: '2' },
  limits: { acceptMs: 2_500, reconcileMs: 300 },
});

it('a member that never comes to an end fails after its time, and its session is free', async () => {
  const { client, models, system } = world;
  models.script('writer', [{ fault: { kind: 'hang-before-headers' } }, 'In time']);
  const { id } = await makeGroup(client, ['default', 'writer']);
  const began = performance.now();
  await sendTo(client, id, 'Hello');
  const room = await settled(client, id);
  expect(performance.now() - began).toBeGreaterThan(1_900);
  expect(room.runState).toMatchObject({
    state: 'partial',
    members: { default: { state: 'completed' }, writer: { state: 'failed' } },
  });
  expect(room.runState?.members['writer']?.error).toMatch(/\S/);
  expect(watermarksOf(system.home, id)).toMatchObject({ writer: 0 });
  const [call] = models.callsOf('writer').slice(-1);
  expect(await call?.ended).toBe('closed');
  await sendTo(client, id, '@writer again');
  await settled(client, id);
  const texts = (await wholeHistory(client, id)).map(({ content }) => content);
  expect(texts).toEqual(['Hello', 'Hello from default', '@writer again', 'In time']);
});

it('members that no runner takes fail as not started, and never answer later', async () => {
  const { client, models, system } = world;
  const { id } = await makeGroup(client, ['default', 'writer']);
  models.script('writer', ['Too late']);
  await system.service('bot-runner').kill();
  const asked = models.calls.length;
  await sendTo(client, id, 'Hello');
  const room = await settled(client, id);
  expect(room.runState).toMatchObject({
    state: 'partial',
    members: { default: { state: 'failed' }, writer: { state: 'failed' } },
  });
  expect(room.readiness).toMatchObject({ default: { state: 'error' }, writer: { state: 'error' } });
  system.service('bot-runner').start();
  await system.ready();
  models.script('writer', ['Now']);
  await sendTo(client, id, '@writer now');
  const after = await settled(client, id);
  expect(after.runState).toMatchObject({ members: { writer: { state: 'completed', error: '' } } });
  expect(after.readiness).toMatchObject({ writer: { state: 'ready', error: '' } });
  const texts = (await wholeHistory(client, id)).map(({ content }) => content);
  expect(texts).toEqual(['Hello', '@writer now', 'Now']);
  expect(models.calls.length - asked).toBe(1);
});
