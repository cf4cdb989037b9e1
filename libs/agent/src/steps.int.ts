import { findRun } from '@flowly/store';
import { abortStep } from './abort-step';
import { acceptStep } from './accept-turn';
import { accept, AgentWorld, send, stateOf, stepAborted, stepGiven, told } from './agent.harness';
import type { Bot } from './bot';
import { askFor, cancelRequests } from './requests';

const KEY = 'room-group-run-1-writer';

let world: AgentWorld;
let bot: Bot;
beforeEach(async () => {
  world = await AgentWorld.start();
  bot = await world.bot();
});
afterEach(() => world.stop());

it('a repeated step runs once and tells again what it came to', async () => {
  world.script('answer');
  const turns = world.turns();
  const run = await acceptStep(bot, stepGiven(KEY), () => turns.claim());
  expect(await acceptStep(bot, stepGiven(KEY), () => turns.claim())).toBeNull();
  expect(told(bot)).toMatchObject([
    { type: 'accepted', stepKey: KEY, at: run?.acceptedAt },
    { type: 'accepted', stepKey: KEY, at: run?.acceptedAt },
  ]);
  if (run) await world.drive(turns, bot, run);
  expect(await acceptStep(bot, stepGiven(KEY), () => turns.claim())).toBeNull();
  const [first, again] = told(bot).slice(2);
  expect(first).toMatchObject({ type: 'ended', stepKey: KEY, state: 'final', text: 'answer' });
  expect(again).toEqual(first);
  expect(world.models.calls).toHaveLength(1);
});

it('a repeated step tells again what it waits for, until that is closed', async () => {
  const turns = world.turns();
  const again = () => acceptStep(bot, stepGiven(KEY), () => turns.claim());
  const run = await again();
  if (!run) throw new Error('The step is claimed.');
  const body = { question: 'Which?', choices: null, riskReasons: [] };
  const wanted = { kind: 'clarify' as const, body, at: Date.now(), forMs: 60_000 };
  await bot.database.write(() => askFor(bot, run, wanted));
  const [, opened] = told(bot);
  expect(opened).toMatchObject({ type: 'request-opened', stepKey: KEY, kind: 'clarify' });
  await again();
  expect(told(bot).slice(2)).toMatchObject([{ type: 'accepted' }, opened]);
  await bot.database.write(() => cancelRequests(bot, run, Date.now()));
  await again();
  expect(told(bot).slice(4)).toMatchObject([{ type: 'request-closed' }, { type: 'accepted' }]);
});

it('a step of other params under the same key is the same step', async () => {
  const turns = world.turns();
  await acceptStep(bot, stepGiven(KEY), () => turns.claim());
  const other = { ...stepGiven(KEY), prompt: 'another prompt' };
  expect(await acceptStep(bot, other, () => turns.claim())).toBeNull();
  expect(told(bot)).toMatchObject([{ type: 'accepted' }, { type: 'accepted' }]);
});

it('an abort before its step leaves an ended row, and the step then starts nothing', async () => {
  expect(await abortStep(bot, stepAborted(KEY), 5)).toBeNull();
  const ended = { type: 'ended', stepKey: KEY, state: 'final', aborted: true, text: '' };
  expect(told(bot)).toMatchObject([ended]);
  expect(await acceptStep(bot, stepGiven(KEY), () => world.turns().claim())).toBeNull();
  expect(told(bot)).toMatchObject([ended, ended]);
  expect(world.models.calls).toHaveLength(0);
  expect(stateOf(bot, KEY)).toBe('aborted');
});

it('a step whose id a client has used fails, and nothing is told or done of the message', async () => {
  const turns = world.turns();
  await accept(bot, send(KEY), turns.claim());
  expect(await acceptStep(bot, stepGiven(KEY), () => turns.claim())).toBeNull();
  expect(await abortStep(bot, stepAborted(KEY), 5)).toBeNull();
  const ended = { type: 'ended', stepKey: KEY, groupId: 'group-1', state: 'error', text: '' };
  expect(told(bot)).toMatchObject([
    { ...ended, aborted: false },
    { ...ended, aborted: true },
  ]);
  expect(findRun(bot.database, KEY)).toMatchObject({ state: 'running', abortRequested: false });
});

it('an abort of a waiting step ends it and hands its session on', async () => {
  const turns = world.turns();
  await acceptStep(bot, stepGiven('k1'), () => turns.claim());
  expect(await acceptStep(bot, stepGiven('k2'), () => turns.claim())).toBeNull();
  expect(await acceptStep(bot, stepGiven('k3'), () => turns.claim())).toBeNull();
  expect(await abortStep(bot, stepAborted('k2'), 5)).toBeNull();
  expect(stateOf(bot, 'k2')).toBe('aborted');
  expect(told(bot).at(-1)).toMatchObject({ type: 'ended', stepKey: 'k2', aborted: true });
});

it('an abort of a running step asks its driver, and a repeated one tells of the end', async () => {
  world.script({ fault: { kind: 'hang-before-headers' } });
  const turns = world.turns();
  const run = await acceptStep(bot, stepGiven(KEY), () => turns.claim());
  const driven = run && world.drive(turns, bot, run);
  await world.models.waitForCalls(1);
  expect((await abortStep(bot, stepAborted(KEY), 5))?.runId).toBe(KEY);
  await turns.renew();
  await driven;
  expect(stateOf(bot, KEY)).toBe('aborted');
  expect(await abortStep(bot, stepAborted(KEY), 6)).toBeNull();
  const ends = told(bot).filter(({ type }) => type === 'ended');
  expect(ends).toHaveLength(2);
  expect(ends[0]).toEqual(ends[1]);
});

it('a send is known by its key: repeated it runs once, with other content it is a conflict', async () => {
  const turns = world.turns();
  await accept(bot, send('r1'), turns.claim());
  const again = await accept(bot, send('r1'), turns.claim());
  expect(again).toEqual({
    receipt: { runId: 'r1', status: 'running', replayed: true },
    claimed: null,
  });
  const other = accept(bot, send('r1', { fingerprint: 'other' }), turns.claim());
  await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
});
