import type { StepEnded, StepGiven } from '@flowly/contract';
import { ended, GroupWorld, until } from '../orchestrator.harness';
import { reconcileGroups } from './reconciler';
import { stepEnded } from './step-ended';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start({ reconcileMs: 1, acceptMs: 20 });
  group = await world.create(['default', 'writer', 'reviewer']);
  await world.command('groups.update', {
    roomId: group,
    title: 'Board',
    members: ['default', 'writer', 'reviewer'],
    mode: 'council',
  });
});
afterEach(() => world.stop());

const steps = (): StepGiven[] =>
  world.orders.flatMap((order) => (order.type === 'step' ? [order] : []));

/** The steps that were given so far, each once, in order. */
const turns = () => [...new Map(steps().map((step) => [step.stepKey, step])).values()];

async function turn(count: number): Promise<StepGiven> {
  await until(() => turns().length === count);
  const step = turns()[count - 1];
  if (!step) throw new Error(`There is no turn ${count}.`);
  return step;
}

async function end(step: StepGiven, changes: Partial<StepEnded> = {}): Promise<void> {
  const given = { group, run: step.runId, steps: { [step.bot]: step.stepKey } };
  await stepEnded(world.orchestrator, ended(given, step.bot, changes));
}

const send = (content: string) => world.command('groups.send', { roomId: group, content });
const run = async () => (await world.record(group)).run;

it('gives one turn after the other, each in the commit that ends the one before it', async () => {
  await send('Begin');
  const first = await turn(1);
  expect(first).toMatchObject({ bot: 'default', stepKey: `room-${first.runId}-c1-1-default` });
  await end(first);
  const second = await turn(2);
  expect(second).toMatchObject({ bot: 'writer', stepKey: `room-${first.runId}-c1-2-writer` });
  expect(second.prompt).toContain('answer of default');
  await end(second, { text: '(pass)' });
  await end(await turn(3), { text: '(pass)' });
  await world.orchestrator.relay.drain();
  expect(await run()).toMatchObject({ state: 'completed', round: 1, turnCount: 3 });
  expect(turns().map(({ bot }) => bot)).toEqual(['default', 'writer', 'reviewer']);
});

it('an end that is told twice gives the next turn once', async () => {
  await send('Begin');
  const first = await turn(1);
  await Promise.all([end(first), end(first)]);
  await end(first, { text: 'another' });
  await turn(2);
  await world.orchestrator.relay.drain();
  expect(steps()).toHaveLength(2);
  expect(await run()).toMatchObject({ turnCount: 2 });
});

it('goes on after a member that does not start, and after one that was interrupted', async () => {
  await send('Begin');
  const first = await turn(1);
  await until(async () => {
    await reconcileGroups(world.orchestrator);
    return turns().length === 2;
  });
  expect((await run())?.members['default']).toMatchObject({ state: 'failed' });
  await end(await turn(2), { state: 'error', errorCode: 'RUN_INTERRUPTED', text: '' });
  const third = await turn(3);
  await end(third, { text: 'Ask @writer' });
  const fourth = await turn(4);
  expect(fourth).toMatchObject({ bot: 'writer', stepKey: `room-${first.runId}-c2-4-writer` });
  expect(fourth.prompt).toContain('User: Begin');
});

it('ends as stranded when a member stays so', async () => {
  await send('@writer begin');
  await end(await turn(1), { state: 'error', errorCode: 'RUN_INTERRUPTED', text: '' });
  expect(await run()).toMatchObject({ state: 'stranded', turnCount: 1 });
});

it('tells who is at work: the one whose turn it is, and nobody at the end', async () => {
  await send('Begin');
  for (let count = 1; count <= 3; count++) await end(await turn(count), { text: '(pass)' });
  await world.orchestrator.relay.drain();
  await until(() => world.events.at(-1)?.room?.running === false);
  const active = world.events.map(({ room }) => room?.activeProfiles.join() ?? '');
  expect(active.filter((names, index) => names !== active[index - 1])).toEqual([
    '',
    'default',
    'writer',
    'reviewer',
    '',
  ]);
});

it('the executor is the same for every turn, also when it is given again', async () => {
  await send('@reviewer and @writer');
  const first = await turn(1);
  await world.orchestrator.relay.drain();
  await until(async () => {
    await reconcileGroups(world.orchestrator);
    return steps().length > 1;
  });
  const again = steps().filter(({ stepKey }) => stepKey === first.stepKey);
  for (const step of again) expect(step).toEqual(first);
});

it('does not keep what a run needed once nothing of it is awaited', async () => {
  await send('Begin');
  const { runId } = await turn(1);
  for (let count = 1; count <= 3; count++) await end(await turn(count), { text: '(pass)' });
  expect(await world.runState({ group, run: runId, steps: {} })).toBeNull();
});
