import { randomUUID } from 'node:crypto';
import {
  Gate,
  makeGroup,
  sendTo,
  settled,
  until,
  wholeHistory,
  type ServiceInstance,
} from '@flowly/testing';
import { Conversation, textOf } from './support/conversation';
import { freeze } from './support/freeze';
import { ask } from './support/http';
import { useWorld } from './support/world';

/** A runner that freezes is taken for dead; what it does when it wakes must change nothing. */
const world = useWorld({
  bots: ['writer'],
  limits: { aliveMs: 1_200, renewMs: 300, reconcileMs: 300, heartbeatMs: 200 },
});

/** A job may be handed to the frozen one: then the other has it when its lock has lapsed. */
const TAKEN_OVER_MS = 10_000;

let runners: ServiceInstance[];
beforeAll(async () => {
  const second = await world.system.add('bot-runner');
  await world.system.ready();
  runners = [world.system.service('bot-runner'), second];
}, 30_000);
/** What a runner said of the turn of the test before is not taken for the turn of this one. */
beforeEach(() =>
  until(async () => (await busyRunners()).length === 0, 5_000, 'a runner still has a turn'),
);
afterEach(() => {
  for (const runner of runners) runner.resume();
});

/** Runners that say with their heartbeat that they have a turn. */
async function busyRunners(): Promise<ServiceInstance[]> {
  const { body } = await ask(`${world.system.url}/metrics`);
  return runners.filter(({ pid }) => new RegExp(`-${pid}-[^}]*figure="turns"} 1$`, 'm').test(body));
}

/** Freezes the runner that has the only turn and waits until the other one has taken it over. */
async function freezeOwner(): Promise<ServiceInstance> {
  const asked = world.models.calls.length;
  const says = async () => (await busyRunners())[0];
  const owner = await until(says, 5_000, 'no runner says that it has a turn');
  freeze(owner, world.system.home);
  await world.models.waitForCalls(asked + 1, { timeoutMs: TAKEN_OVER_MS });
  return owner;
}

it('a conversation shows the answer of the second attempt alone', async () => {
  const chat = new Conversation(world.client, `desktop:${randomUUID()}`, 'rpc', 'writer');
  const gates = [new Gate(), new Gate()];
  world.models.script('writer', [
    { text: ['first ', 'attempt', gates[0]?.opened ?? ''] },
    { text: ['second ', 'attempt', gates[1]?.opened ?? '', ' ended'] },
  ]);
  const { runId } = await chat.send('Hello');
  await chat.shows(runId, 'first attempt');
  const zombie = await freezeOwner();
  gates[0]?.open();
  zombie.resume();
  const late = await world.models.waitForCalls(2, { model: 'writer' });
  await late[0]?.ended;
  gates[1]?.open();
  const final = await chat.terminal(runId, 15_000);
  expect(textOf(final)).toBe('second attempt ended');
  await world.client.rpc('writer', 'sessions.list');
  expect(chat.terminals(runId)).toHaveLength(1);
  const step = world.client.events.findIndex(
    ({ event, data }) =>
      event === 'profile.event' && data?.type === 'chat' && data.data.state === 'iteration_step',
  );
  expect(step).toBeGreaterThan(-1);
  expect(chat.pieces(runId, step).join('')).toBe('second attempt ended');
  expect(await chat.transcript()).toEqual(['user: Hello', 'assistant: second attempt ended']);
}, 40_000);

it('a group gets one answer', async () => {
  const { client, models } = world;
  await client.call('profiles.rooms.list');
  const gate = new Gate();
  models.script('writer', [{ text: ['from the zombie', gate.opened, '!'] }, 'from the living']);
  const { id } = await makeGroup(client, ['default', 'writer']);
  const asked = models.callsOf('writer').length;
  await sendTo(client, id, '@writer hi');
  await models.waitForCalls(asked + 1, { model: 'writer' });
  await client.waitForGroup(
    id,
    ({ patch, room }) => (patch ?? room)?.streams['writer'] === 'from the zombie',
  );
  const zombie = await freezeOwner();
  await settled(client, id);
  gate.open();
  zombie.resume();
  await models.callsOf('writer')[asked]?.ended;
  await settled(client, id);
  const texts = (await wholeHistory(client, id)).map(({ content }) => content);
  expect(texts).toEqual(['@writer hi', 'from the living']);
}, 40_000);
