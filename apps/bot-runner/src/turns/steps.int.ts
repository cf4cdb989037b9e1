import type { StepGiven } from '@flowly/contract';
import { RunnerWorld, until } from '../runner.harness';
import { processOrder } from './process-order';
import { processTurn } from './process-turn';

let world: RunnerWorld;
beforeEach(async () => {
  world = await RunnerWorld.start();
});
afterEach(() => world.stop());

const step = (bot: string): StepGiven => ({
  type: 'step',
  stepKey: `room-run-1-${bot}`,
  groupId: 'group-1',
  runId: 'run-1',
  bot,
  sessionKey: 'desktop:profile-room:group-1',
  prompt: 'Hello',
  disabledTools: [],
});
const abort = (bot: string) => {
  const { stepKey, groupId, runId, sessionKey } = step(bot);
  return { type: 'abort' as const, stepKey, groupId, runId, bot, sessionKey };
};
const ends = () => world.told.filter(({ type }) => type === 'ended');

it('tells of a step’s acceptance and of its end', async () => {
  const runner = await world.runner();
  await processTurn(runner, { body: step('default') });
  await until(() => world.told.length === 2);
  expect(world.told).toMatchObject([
    { type: 'accepted', stepKey: 'room-run-1-default' },
    { type: 'ended', state: 'final', text: expect.stringMatching(/\S/) },
  ]);
});

it('a step of a bot that is gone ends as an error', async () => {
  const runner = await world.runner();
  await processTurn(runner, { body: step('gone') });
  await until(() => ends().length === 1);
  expect(ends()).toMatchObject([{ state: 'error', errorCode: 'PROFILE_NOT_FOUND' }]);
});

it('an abort for a bot that is gone is answered, so that it is not repeated for ever', async () => {
  const runner = await world.runner();
  await processOrder(runner, { body: abort('gone') });
  await until(() => ends().length === 1);
  expect(ends()).toMatchObject([{ stepKey: 'room-run-1-gone', aborted: true }]);
});

it('an abort that comes first ends the step, which then asks no model', async () => {
  const runner = await world.runner();
  await processOrder(runner, { body: abort('default') });
  await processTurn(runner, { body: step('default') });
  await until(() => ends().length >= 1);
  expect(ends()[0]).toMatchObject({ state: 'final', aborted: true, text: '' });
  expect(runner.turns.count).toBe(0);
});

it('a job whose large value is gone does nothing', async () => {
  const runner = await world.runner();
  await processTurn(runner, { large: 'gone' });
  await processOrder(runner, { large: 'gone' });
  expect(world.told).toEqual([]);
});
