import { isObject } from '@flowly/contract';
import { makeGroup, sendTo, settled, until } from '@flowly/testing';
import { FaithfulClient } from './support/faithful-client';
import { ask } from './support/http';
import { Panels } from './support/panels';
import { useWorld } from './support/world';

/** A service or Redis is gone for a while; the tests build on one another. */
const world = useWorld({ bots: ['writer'], limits: { heartbeatGoneMs: 1_500, heartbeatMs: 300 } });

const notReady = () =>
  until(
    async () => {
      const { status, body } = await ask(`${world.system.url}/ready`);
      return status === 503 ? body : undefined;
    },
    10_000,
    '/ready stays 200',
  );

it.each([
  ['bot-runner', /runner/],
  ['group-orchestrator', /orchestrator/],
] as const)(
  '/ready is 503 and names the %s that is dead, and /health stays 200',
  async (name, named) => {
    await world.system.service(name).kill();
    expect(await notReady()).toMatch(named);
    expect((await ask(`${world.system.url}/health`)).status).toBe(200);
    world.system.service(name).start();
    await world.system.ready();
  },
);

it('a call that no runner takes is withdrawn: PROFILE_OFFLINE, and it never runs', async () => {
  await world.system.service('bot-runner').kill();
  const before = world.models.calls.length;
  const began = performance.now();
  const refused = await world.client.refusal('profiles.rpc', {
    name: 'writer',
    method: 'chat.send',
    params: { sessionKey: 'ios:withdrawn', message: 'Hello', idempotencyKey: 'withdrawn-1' },
    timeoutMs: 1_000,
  });
  expect(refused).toMatchObject({ code: 'PROFILE_OFFLINE', retryable: true });
  expect(performance.now() - began).toBeLessThan(3_000);
  world.system.service('bot-runner').start();
  await world.system.ready();
  const { messages } = await world.client.rpc('writer', 'chat.history', {
    sessionKey: 'ios:withdrawn',
  });
  expect(messages).toEqual([]);
  expect(world.models.calls).toHaveLength(before);
});

it('a call waits for a runner that comes back within its ceiling', async () => {
  await world.system.service('bot-runner').kill();
  const listed = world.client.rpc('writer', 'sessions.list', {}, { timeoutMs: 14_000 });
  world.system.service('bot-runner').start();
  expect(await listed).toEqual({ sessions: [] });
});

it('without Redis a call fails within its ceiling, and afterwards all is well again', async () => {
  await world.system.redis.kill();
  const refused = await world.client.refusal('profiles.rpc', {
    name: 'writer',
    method: 'sessions.list',
    timeoutMs: 1_000,
  });
  expect(refused.retryable).toBe(true);
  expect(['PROFILE_OFFLINE', 'PROFILE_RPC_TIMEOUT']).toContain(refused.code);
  const ready = await ask(`${world.system.url}/ready`);
  expect(ready.status).toBe(503);
  expect(ready.body).toMatch(/redis/i);
  await world.system.redis.restart();
  await world.system.ready();
  const client = await FaithfulClient.connect(world.system);
  const panels = await Panels.open(world, client, ['default', 'writer'], 1);
  const taken = async () => {
    await panels.post();
    return panels.accepted > 0;
  };
  await until(taken, 20_000, 'no message is taken after Redis came back');
  await panels.idleAgain(performance.now());
  await panels.expectWhole();
  client.end();
});

it('a turn whose model hangs is handed over when the services end', async () => {
  const client = await world.connect();
  const { id } = await makeGroup(client, ['default', 'writer']);
  world.models.script('writer', [{ fault: { kind: 'hang-before-headers' } }, 'After all']);
  const asked = world.models.callsOf('writer').length;
  await sendTo(client, id, '@writer hi');
  await world.models.waitForCalls(asked + 1, { model: 'writer' });
  const began = performance.now();
  await Promise.all(world.system.instances.map((instance) => instance.kill('SIGTERM')));
  expect(performance.now() - began).toBeLessThan(10_000);
  for (const instance of world.system.instances) instance.start();
  await world.system.ready();
  const room = await settled(await world.reconnect(), id);
  expect(room.messages?.map(({ content }) => content)).toEqual(['@writer hi', 'After all']);
});

it('the services end in good order with work in hand, and it is done afterwards', async () => {
  const client = await world.connect();
  const { id } = await makeGroup(client, ['default', 'writer']);
  world.models.script('writer', [{ text: 'one two three four five six', tokenDelayMs: 60 }]);
  await sendTo(client, id, 'Hello');
  await client.waitForGroup(id, ({ type }) => type === 'stream');
  const fresh = await world.restart();
  const room = await settled(fresh, id);
  const answers = room.messages?.filter(({ role }) => role === 'assistant') ?? [];
  expect(answers.map(({ profile }) => profile).sort()).toEqual(['default', 'writer']);
  expect(isObject(room.runState) && room.runState.state).toBe('completed');
});
