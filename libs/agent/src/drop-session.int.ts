import type { SessionRemoval } from '@flowly/contract';
import { findRun, groupSessionKeys } from '@flowly/store';
import { abortStep } from './abort-step';
import { acceptStep } from './accept-turn';
import { AgentWorld, stateOf, stepAborted, stepGiven, told, until } from './agent.harness';
import type { Bot } from './bot';
import { removeGroupSession } from './drop-session';

const SESSION = 'desktop:profile-room:group-1';

let world: AgentWorld;
let bot: Bot;
beforeEach(async () => {
  world = await AgentWorld.start();
  bot = await world.bot();
});
afterEach(() => world.stop());

const removal = (changes: Partial<SessionRemoval> = {}): SessionRemoval => ({
  type: 'remove-session',
  removalId: 'removal-1',
  groupId: 'group-1',
  bot: 'writer',
  sessionKey: SESSION,
  at: Date.now(),
  steps: [],
  ...changes,
});
const removed = {
  type: 'session-removed',
  removalId: 'removal-1',
  groupId: 'group-1',
  bot: 'writer',
};
const answered = async (key: string, changes: object = {}) => {
  const turns = world.turns();
  world.script(`answer to ${key}`);
  const run = await acceptStep(bot, { ...stepGiven(key), ...changes }, () => turns.claim());
  if (!run) throw new Error('The step was not free.');
  await world.drive(turns, bot, run);
};
const promptsOfNewest = () => world.models.calls.at(-1)?.messages.map(({ content }) => content);

it('the session is gone, no model is asked, and it is said so each time', async () => {
  await answered('k1');
  const order = removal();
  expect(await removeGroupSession(bot, order)).toEqual([]);
  expect(await removeGroupSession(bot, order)).toEqual([]);
  expect(groupSessionKeys(bot.database)).toEqual([]);
  expect(findRun(bot.database, 'k1')).toMatchObject({ message: '', outcome: { text: '' } });
  expect(told(bot).slice(-2)).toEqual([removed, removed]);
  expect(world.models.calls).toHaveLength(1);
});

it('a removal that is delivered again leaves a session that was made since alone', async () => {
  await answered('k1');
  const order = removal();
  await removeGroupSession(bot, order);
  await until(() => Date.now() > order.at);
  await answered('k2');
  await removeGroupSession(bot, order);
  expect(groupSessionKeys(bot.database)).toEqual([SESSION]);
  expect(stateOf(bot, 'k2')).toBe('completed');
});

it('ends what still runs in the session; its driver has lost it and posts nothing', async () => {
  world.script({ fault: { kind: 'hang-before-headers' } });
  const turns = world.turns();
  const run = await acceptStep(bot, stepGiven('k1'), () => turns.claim());
  const waiting = await acceptStep(bot, stepGiven('k2'), () => turns.claim());
  expect(waiting).toBeNull();
  const driven = run && world.drive(turns, bot, run);
  await world.models.waitForCalls(1);
  const woken = await removeGroupSession(bot, removal());
  expect(woken.map(({ runId }) => runId)).toContain('k1');
  await turns.renew();
  await driven;
  expect([stateOf(bot, 'k1'), stateOf(bot, 'k2')]).toEqual(['aborted', 'aborted']);
  expect(groupSessionKeys(bot.database)).toEqual([]);
  const ends = told(bot).filter(({ type }) => type === 'ended');
  expect(ends).toMatchObject([
    { stepKey: 'k1', aborted: true, text: '' },
    { stepKey: 'k2', aborted: true, text: '' },
  ]);
});

it('a step whose end was awaited and that has not come yet never begins', async () => {
  await removeGroupSession(bot, removal({ steps: [{ stepKey: 'late', runId: 'run-1' }] }));
  expect(await acceptStep(bot, stepGiven('late'), () => world.turns().claim())).toBeNull();
  expect(stateOf(bot, 'late')).toBe('aborted');
  expect(groupSessionKeys(bot.database)).toEqual([]);
  expect(world.models.calls).toHaveLength(0);
});

it('an abort that comes before its step makes no session', async () => {
  await abortStep(bot, stepAborted('k1'), 5);
  expect(groupSessionKeys(bot.database)).toEqual([]);
});

describe('a member that was removed and added back', () => {
  it('starts clean, also when its new step overtakes the removal', async () => {
    await answered('old');
    const order = removal();
    await answered('new', { removals: [order] });
    expect(promptsOfNewest()?.join('\n')).not.toContain('old');
    expect(told(bot)).toContainEqual(removed);
    await removeGroupSession(bot, order);
    await answered('newer', { removals: [order] });
    const words = promptsOfNewest()?.join('\n');
    expect(words).toContain('answer to new');
    expect(words).not.toContain('old');
  });

  it('keeps its new session when the clock was turned back meanwhile', async () => {
    await answered('old');
    const order = removal({ at: Date.now() + 60_000 });
    await answered('new', { removals: [order] });
    await removeGroupSession(bot, order);
    expect(groupSessionKeys(bot.database)).toEqual([SESSION]);
  });
});
