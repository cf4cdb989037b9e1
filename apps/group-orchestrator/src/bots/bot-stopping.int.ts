import { accepted, ended, GroupWorld, until } from '../orchestrator.harness';
import { stepAccepted } from '../turns/step-accepted';
import { stepEnded } from '../turns/step-ended';
import { botStopping } from './bot-stopping';

let world: GroupWorld;
beforeEach(async () => {
  world = await GroupWorld.start();
});
afterEach(() => world.stop());

const job = {
  type: 'bot-stopping' as const,
  bot: 'writer',
  botId: 'id of writer',
  command: { id: 'command-1', gateway: 'gateway-1' },
};
const stopWriter = () => botStopping(world.orchestrator, job);
const stateOf = async (group: string) => (await world.get(group)).runState?.state;

it('stops the groups in which the bot is queued, running or waiting, and no other', async () => {
  const queued = await world.create(['default', 'writer']);
  const running = await world.create(['reviewer', 'writer']);
  const done = await world.create(['writer', 'default']);
  const other = await world.create(['default', 'reviewer']);
  await world.send(queued);
  const atWork = await world.send(running);
  await stepAccepted(world.orchestrator, accepted(atWork, 'writer'));
  await world.write(atWork, 'writer', 'so far');
  const itEnded = await world.send(done);
  await stepEnded(world.orchestrator, ended(itEnded, 'writer'));
  await world.send(other);
  await stopWriter();
  expect(await Promise.all([queued, running, done, other].map(stateOf))).toEqual([
    'aborted',
    'aborted',
    'running',
    'running',
  ]);
  expect((await world.get(running)).messages?.at(-1)).toMatchObject({
    profile: 'writer',
    content: 'so far',
    aborted: true,
  });
  await until(() => world.orders.filter(({ type }) => type === 'abort').length === 4);
});

it('says that they are stopped, also when it is told again', async () => {
  await world.send(await world.create());
  await stopWriter();
  await until(() => world.leaves.length === 1);
  const { type: _, ...told } = job;
  expect(world.leaves).toEqual([{ type: 'groups-stopped', ...told }]);
  await stopWriter();
  await until(() => world.leaves.length === 2);
  expect(world.leaves[1]).toEqual(world.leaves[0]);
});

it('told again when it is done, it stops nothing that has begun since', async () => {
  const group = await world.create();
  world.stopped.add(job.command.id);
  await world.send(group);
  await stopWriter();
  expect(await stateOf(group)).toBe('running');
});

it('a group that cannot be stopped now holds up no other, and nothing is said', async () => {
  const [held, free] = [await world.create(), await world.create()];
  await world.send(held);
  await world.send(free);
  world.store.database.exec(
    `CREATE TEMP TRIGGER no BEFORE UPDATE ON rooms WHEN OLD.id = '${held}'
     BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  await expect(stopWriter()).rejects.toMatchObject({ code: 'ROOM_STORE_INVALID' });
  expect([await stateOf(held), await stateOf(free)]).toEqual(['running', 'aborted']);
  await world.orchestrator.relay.drain();
  expect(world.leaves).toEqual([]);
});

it('leaves a council alone in which the bot has spoken its last', async () => {
  const group = await world.create(['writer', 'default']);
  await world.command('groups.update', {
    roomId: group,
    title: 'C',
    members: ['writer', 'default'],
    mode: 'council',
  });
  await world.command('groups.send', { roomId: group, content: '@writer @default go' });
  const { run } = await world.record(group);
  await until(() => world.orders.length === 1);
  const stepKey = world.orders[0]?.stepKey ?? '';
  await stepEnded(
    world.orchestrator,
    ended({ group, run: run?.id ?? '', steps: { writer: stepKey } }, 'writer'),
  );
  await stopWriter();
  expect(await stateOf(group)).toBe('running');
});
