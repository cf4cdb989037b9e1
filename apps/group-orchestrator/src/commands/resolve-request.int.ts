import { randomUUID } from 'node:crypto';
import { accepted, GroupWorld, until, type Given } from '../orchestrator.harness';
import { closed, opened, resolved } from '../requests.harness';
import { requestClosed, requestResolved } from '../turns/request-closed';
import { requestOpened } from '../turns/request-opened';
import { stepAccepted } from '../turns/step-accepted';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start();
  group = await world.create();
});
afterEach(() => world.stop());

const REQUEST = '0123456789abcdef';
const UNKNOWN = '11111111-1111-4111-8111-111111111111';
const approve = (params: Record<string, unknown> = {}, id?: string) =>
  world.command(
    'groups.approval.resolve',
    { roomId: group, id: REQUEST, decision: 'allow-once', ...params },
    id,
  );
const answer = (params: Record<string, unknown> = {}, id?: string) =>
  world.command('groups.clarify.resolve', { roomId: group, id: REQUEST, ...params }, id);
const ask = async (kind: 'approval' | 'clarify' = 'approval') => {
  const given = await world.send(group, 'Hello');
  for (const member of Object.keys(given.steps))
    await stepAccepted(world.orchestrator, accepted(given, member));
  await requestOpened(world.orchestrator, opened(given, 'writer', REQUEST, { kind }));
  return given;
};
const tell = (given: Given, command: string, taken: boolean) =>
  requestResolved(world.orchestrator, resolved(given, 'writer', REQUEST, { command, taken }));
const orders = () => world.orders.filter(({ type }) => type === 'resolve');
const outcomes = async (command: string) =>
  (await world.answers())
    .filter((reply) => reply.command === command)
    .map(({ outcome }) => outcome);
const CLOSED = { error: { code: 'ROOM_REQUEST_CLOSED', retryable: false } };

it('X062: an unknown group, and one where nothing is pending, have no open request', async () => {
  for (const roomId of [UNKNOWN, group]) {
    await expect(approve({ roomId })).rejects.toMatchObject({ code: 'ROOM_REQUEST_CLOSED' });
    await expect(answer({ roomId, answer: 'x' })).rejects.toMatchObject({
      code: 'ROOM_REQUEST_CLOSED',
    });
  }
});

it('X063: the form of the ids is examined before anything else', async () => {
  await ask();
  for (const id of ['', 'x'.repeat(257), 7, null, undefined])
    for (const resolve of [approve, answer])
      await expect(resolve({ id, roomId: UNKNOWN })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
      });
  await expect(approve({ roomId: 'abc', id: '' })).rejects.toMatchObject({ code: 'ROOM_INVALID' });
  await expect(approve({ id: 'x'.repeat(256) })).rejects.toMatchObject({
    code: 'ROOM_REQUEST_CLOSED',
  });
});

it('X064: that the request is open and of that kind is examined before what is said', async () => {
  await expect(approve({ decision: 'maybe' })).rejects.toMatchObject({
    code: 'ROOM_REQUEST_CLOSED',
  });
  await ask();
  for (const decision of ['maybe', '', null, undefined, 7])
    await expect(approve({ decision })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(answer({ answer: '' })).rejects.toMatchObject({ code: 'ROOM_REQUEST_CLOSED' });
});

it('an answer is some text of at most 32,000 characters', async () => {
  await ask('clarify');
  for (const wrong of ['', ' \n', undefined, null, 7, 'x'.repeat(32_001)])
    await expect(answer({ answer: wrong })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(approve()).rejects.toMatchObject({ code: 'ROOM_REQUEST_CLOSED' });
  const long = '🦊'.repeat(32_000);
  await answer({ answer: long });
  await until(() => orders().length === 1);
  expect(orders()).toMatchObject([{ kind: 'clarify', answer: long }]);
});

it('goes to the bot that asked alone, and is answered when that is known', async () => {
  const given = await ask();
  const command = randomUUID();
  await approve({ roomId: group.toUpperCase() }, command);
  await until(() => orders().length === 1);
  expect(orders()).toEqual([
    {
      type: 'resolve',
      bot: 'writer',
      stepKey: given.steps['writer'],
      groupId: group,
      runId: given.run,
      sessionKey: `desktop:profile-room:${group}`,
      requestId: REQUEST,
      kind: 'approval',
      decision: 'allow-once',
      command: { id: command, gateway: 'gateway-1' },
    },
  ]);
  expect((await world.get(group)).attentions).toHaveLength(1);
  expect(await outcomes(command)).toEqual([]);
  await tell(given, command, true);
  expect(await world.get(group)).toMatchObject({ attentions: [], needsUser: false });
  await until(async () => (await outcomes(command)).length === 1);
  expect(await outcomes(command)).toEqual([{ result: { hostId: 'host-1', ok: true } }]);
  await requestClosed(world.orchestrator, closed(given, 'writer', REQUEST));
  await world.orchestrator.relay.drain();
  expect(world.events.filter(({ type }) => type === 'attention')).toHaveLength(2);
});

it('one of two wins, whichever the bot heard first', async () => {
  const given = await ask();
  const [first, second] = [randomUUID(), randomUUID()];
  await Promise.all([approve({}, first), approve({ decision: 'deny' }, second)]);
  await until(() => orders().length === 2);
  await Promise.all([tell(given, second, true), tell(given, first, false)]);
  await until(async () => (await outcomes(first)).length === 1);
  expect(await outcomes(first)).toMatchObject([CLOSED]);
  await until(async () => (await outcomes(second)).length === 1);
  expect(await outcomes(second)).toMatchObject([{ result: { ok: true } }]);
  await expect(approve()).rejects.toMatchObject({ code: 'ROOM_REQUEST_CLOSED' });
});

it('a request that the bot does not know any more is closed', async () => {
  const given = await ask();
  const command = randomUUID();
  await approve({}, command);
  await tell(given, command, false);
  expect(await world.get(group)).toMatchObject({ attentions: [], needsUser: false });
  await until(async () => (await outcomes(command)).length === 1);
  expect(await outcomes(command)).toMatchObject([CLOSED]);
});

it('delivered again it is handed on again, until its outcome is known, which stays', async () => {
  const given = await ask();
  const command = randomUUID();
  await approve({}, command);
  await until(() => orders().length === 1);
  await approve({}, command);
  await until(() => orders().length === 2);
  expect(orders()[1]).toEqual(orders()[0]);
  await tell(given, command, true);
  await tell(given, command, false);
  await approve({}, command);
  await until(async () => (await outcomes(command)).length >= 2);
  for (const outcome of await outcomes(command))
    expect(outcome).toMatchObject({ result: { ok: true } });
  expect(orders()).toHaveLength(2);
});

it('is answered also when its group has gone meanwhile', async () => {
  const given = await ask();
  const command = randomUUID();
  await approve({}, command);
  await world.command('groups.stop', { roomId: group });
  await tell({ ...given, group: UNKNOWN }, command, false);
  await until(async () => (await outcomes(command)).length === 1);
  expect(await outcomes(command)).toMatchObject([CLOSED]);
});
