import type { SessionRemoval, StepGiven } from '@flowly/contract';
import { groupSessionKeys } from '@flowly/store';
import { openBot } from '../runner';
import { RunnerWorld, until } from '../runner.harness';
import { processOrder } from './process-order';
import { processTurn } from './process-turn';

const KEY = 'desktop:profile-room:group-1';

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
  sessionKey: KEY,
  prompt: 'Hello',
  disabledTools: [],
});
const removal = (bot: string): SessionRemoval => ({
  type: 'remove-session',
  removalId: `removal at ${bot}`,
  groupId: 'group-1',
  bot,
  sessionKey: KEY,
  at: Date.now(),
  steps: [],
});
const toldOf = (wanted: string) => world.told.filter(({ type }) => type === wanted);

it('removes a private session and says so', async () => {
  const runner = await world.runner();
  await processTurn(runner, { body: step('default') });
  await processOrder(runner, { body: removal('default') });
  await until(() => toldOf('session-removed').length === 1);
  expect(toldOf('session-removed')).toMatchObject([{ removalId: 'removal at default' }]);
  const { database } = await openBot(runner, 'default');
  expect(groupSessionKeys(database)).toEqual([]);
});

it('a bot that is gone has no session, so that the removal is not repeated for ever', async () => {
  const runner = await world.runner();
  await processOrder(runner, { body: removal('gone') });
  await until(() => toldOf('session-removed').length === 1);
});

it('says which groups have a private session at which bot', async () => {
  const runner = await world.runner();
  await processOrder(runner, { body: { type: 'list-sessions' } });
  await processTurn(runner, { body: step('default') });
  await processOrder(runner, { body: { type: 'list-sessions' } });
  await until(() => toldOf('sessions').length === 1);
  expect(toldOf('sessions')).toEqual([{ type: 'sessions', bot: 'default', groupIds: ['group-1'] }]);
});
