import type { RequestOpened, RequestResolve, StepGiven } from '@flowly/contract';
import { saveExecPolicy } from '@flowly/store';
import { call, RunnerWorld, until } from '../runner.harness';
import type { Runner } from '../runner';
import { processResolve } from './process-resolve';
import { processTurn } from './process-turn';

let world: RunnerWorld;
beforeEach(async () => {
  world = await RunnerWorld.start({ requestLookMs: 50 });
});
afterEach(() => world.stop());

const step = (prompt: string): StepGiven => ({
  type: 'step',
  stepKey: 'room-run-1-default',
  groupId: 'group-1',
  runId: 'run-1',
  bot: 'default',
  sessionKey: 'desktop:profile-room:group-1',
  prompt,
  disabledTools: [],
});
const resolve = (requestId: string, changes: Partial<RequestResolve> = {}): RequestResolve => {
  const { stepKey, groupId, runId, bot, sessionKey } = step('');
  const command = { id: `command-${requestId}`, gateway: 'gateway-1' };
  const ref = { stepKey, groupId, runId, bot, sessionKey, requestId, command };
  return { type: 'resolve', ...ref, kind: 'clarify', ...changes };
};
const told = (type: string) => world.told.filter((job) => job.type === type);

async function opened(count = 1): Promise<RequestOpened> {
  await until(() => told('request-opened').length === count);
  const job = world.told.findLast((each) => each.type === 'request-opened');
  if (job?.type !== 'request-opened') throw new Error('no request');
  return job;
}

async function begin(runner: Runner, prompt: string): Promise<void> {
  const { database } = await runner.openBots.open('default');
  await database.write(() => saveExecPolicy(database, { security: 'full', ask: 'always' }));
  await processTurn(runner, { body: step(prompt) });
}

it('a decision that another runner takes reaches the turn that waits, in order', async () => {
  const [driving, other] = [await world.runner(), await world.runner()];
  const done = begin(driving, 'User: [ask Tea?] [run echo hi]');
  const question = await opened();
  expect(question).toMatchObject({ kind: 'clarify', request: { question: 'Tea?' } });
  await processResolve(other, { body: resolve(question.requestId, { answer: 'Yes' }) });
  const approval = await opened(2);
  expect(approval).toMatchObject({ kind: 'approval', request: { command: 'echo hi' } });
  const allowed = { kind: 'approval', decision: 'allow-once' } as const;
  await processResolve(other, { body: resolve(approval.requestId, allowed) });
  await await done;
  await until(() => told('ended').length === 1);
  expect(world.told.map(({ type }) => type)).toEqual([
    'accepted',
    'request-opened',
    'request-closed',
    'resolved',
    'request-opened',
    'request-closed',
    'resolved',
    'ended',
  ]);
  expect(told('resolved')).toMatchObject([{ taken: true }, { taken: true }]);
  expect(told('ended')).toMatchObject([
    { state: 'final', text: expect.stringContaining('A tool said: “Yes”. A tool said: “hi”.') },
  ]);
});

it('in the bot’s own view the same request is closed, and the group hears of it', async () => {
  const runner = await world.runner();
  const done = begin(runner, 'User: [ask Tea?]');
  const { requestId } = await opened();
  await call(runner, 'agent.clarify.list', {});
  await call(runner, 'agent.clarify.resolve', { id: requestId, answer: 'No' });
  const again = call(runner, 'agent.clarify.resolve', { id: requestId, answer: 'Yes' });
  await expect(again).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await processResolve(runner, { body: resolve(requestId, { answer: 'Late' }) });
  await await done;
  await until(() => told('resolved').length === 1 && told('request-closed').length === 2);
  expect(told('resolved')).toMatchObject([{ taken: false }]);
});

it('what comes for a bot that is gone, or without its value, ends nothing and fails nothing', async () => {
  const runner = await world.runner();
  await processResolve(runner, { body: resolve('r1', { bot: 'gone', answer: 'x' }) });
  await processResolve(runner, { large: 'gone' });
  await until(() => told('resolved').length === 1);
  expect(world.told).toMatchObject([{ type: 'resolved', bot: 'gone', taken: false }]);
});
