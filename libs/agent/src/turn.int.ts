import { ContractError } from '@flowly/contract';
import { windowOf } from '@flowly/models';
import {
  addRunStep,
  chatHistory,
  claimRun,
  findRun,
  requestAbort,
  runSteps,
  type Database,
  type Run,
} from '@flowly/store';
import { Gate } from '@flowly/testing';
import { accept, AgentWorld, claimed, send, SESSION, stateOf, told, until } from './agent.harness';
import type { Bot } from './bot';
import { commitEnd } from './end-turn';
import { liveRun } from './live-run';
import { interruptTurn, resetForTakeover } from './takeover';
import { driveTurn } from './turn';

let world: AgentWorld;
let bot: Bot;
beforeEach(async () => {
  world = await AgentWorld.start({ aliveMs: 200, renewMs: 20 });
  bot = await world.bot();
});
afterEach(() => world.stop());

/** Accepts a send, claims it and drives it to its end. */
async function runToEnd(runId: string): Promise<void> {
  const turns = world.turns();
  const { claimed: run } = await accept(bot, send(runId), turns.claim());
  if (run) await world.drive(turns, bot, run);
}

const texts = (database: Database) =>
  chatHistory(database, { sessionKey: SESSION }).messages.map(
    ({ role, content }) => `${role}: ${content.map(({ text }) => text).join('')}`,
  );

const terminals = () => told(bot).filter(({ state }) => state === 'final' || state === 'error');

it('ends an answered run once, with its answer in the history and its record whole', async () => {
  world.script('Hello there');
  await runToEnd('r1');
  expect(terminals()).toMatchObject([
    { state: 'final', runId: 'r1', model: 'm', message: { usage: { completion_tokens: 2 } } },
  ]);
  expect(stateOf(bot, 'r1')).toBe('completed');
  expect(texts(bot.database)).toEqual(['user: question r1', 'assistant: Hello there']);
  const { text } = await world.bus.live.read({ botId: bot.botId, runId: 'r1' });
  expect(text).toBe('Hello there');
});

it('says what its model holds when an earlier turn has learnt it from the list of the server', async () => {
  world.models.offer([{ id: 'm', name: 'M', contextWindow: 4_096 }]);
  world.script('one', 'two');
  await runToEnd('r1');
  expect(terminals()[0]).not.toHaveProperty('contextWindow');
  const target = { slot: 'vllm', model: 'm', apiBase: world.models.apiBase, apiKey: 'k' } as const;
  await until(async () => windowOf(target) === 4_096);
  await runToEnd('r2');
  expect(terminals()[1]).toMatchObject({ contextWindow: 4_096 });
});

it('ends an aborted run with the text so far', async () => {
  const gate = new Gate();
  world.script({ text: ['so ', 'far', gate.opened, ' never'] });
  const turns = world.turns();
  const { claimed: run } = await accept(bot, send('r1'), turns.claim());
  const driven = run && world.drive(turns, bot, run);
  await until(async () => {
    return (await world.bus.live.read({ botId: bot.botId, runId: 'r1' })).text === 'so far';
  });
  turns.wake(bot.botId, 'r1');
  await driven;
  expect(terminals()).toMatchObject([
    { state: 'final', aborted: true, message: { content: [{ text: 'so far' }] } },
  ]);
  expect(stateOf(bot, 'r1')).toBe('aborted');
});

it.each([
  ['answers', {}],
  ['fails', { fault: { kind: 'reset', after: 1 } }],
] as const)('an abort holds when its wake comes too late and the model %s', async (_, fault) => {
  const gate = new Gate();
  world.script({ text: ['answer', gate.opened, ' ended'], ...fault });
  const turns = world.turns();
  const { claimed: run } = await accept(bot, send('r1'), turns.claim());
  const driven = run && world.drive(turns, bot, run);
  await bot.database.write(() => requestAbort(bot.database, 'r1', null, Date.now()));
  gate.open();
  await driven;
  expect(terminals()).toMatchObject([{ state: 'final', aborted: true }]);
  expect(stateOf(bot, 'r1')).toBe('aborted');
});

it.each([
  [
    'a provider that refuses',
    { fault: { kind: 'status', status: 500 } },
    'MODEL_PROVIDER_UNAVAILABLE',
  ],
  [
    'one that resets in mid-answer',
    { text: ['a', 'b'], fault: { kind: 'reset', after: 1 } },
    'MODEL_PROVIDER_UNAVAILABLE',
  ],
] as const)('%s ends the run in one error', async (_, answer, errorCode) => {
  world.script(answer);
  await runToEnd('r1');
  expect(terminals()).toMatchObject([{ state: 'error', errorCode, retryable: true }]);
  expect(stateOf(bot, 'r1')).toBe('error');
  expect(texts(bot.database)).toEqual(['user: question r1']);
});

it('an attempt whose claim was taken over commits nothing', async () => {
  world.script('answer');
  const turns = world.turns();
  const { claimed: old } = await accept(bot, send('r1'), { owner: 'dead', at: 1, aliveUntil: 2 });
  const taken = await claimed(bot, 'r1', turns);
  expect(old?.epoch).toBe(1);
  if (!old) throw new Error('not claimed');
  const signals = new AbortController().signal;
  const lost: string[] = [];
  await resetForTakeover(bot, taken, world.bus.live);
  await driveTurn(
    bot,
    old,
    world.settings,
    {
      abort: signals,
      stop: () => lost.push('stop'),
      lost: signals,
      lose: () => lost.push('lose'),
      onDecision: () => () => undefined,
    },
    world.hooks,
  );
  expect(lost).toEqual(['lose']);
  expect(terminals()).toEqual([]);
  await world.drive(turns, bot, taken);
  expect(terminals()).toHaveLength(1);
  expect(texts(bot.database)).toEqual(['user: question r1', 'assistant: answer']);
});

it('a run taken up from a dead owner resets what clients had and stores its message once', async () => {
  const gate = new Gate();
  world.script({ text: ['half an ', gate.opened] }, 'whole answer');
  const dead = world.turns('dead');
  const { claimed: run } = await accept(bot, send('r1'), dead.claim());
  void (run && world.drive(dead, bot, run));
  await until(async () => {
    return (await world.bus.live.read({ botId: bot.botId, runId: 'r1' })).text === 'half an ';
  });
  const turns = world.turns('alive');
  await until(() => (findRun(bot.database, 'r1')?.aliveUntil ?? Infinity) < Date.now());
  const taken = await claimed(bot, 'r1', turns);
  await resetForTakeover(bot, taken, world.bus.live);
  await world.drive(turns, bot, taken);
  gate.open();
  expect(told(bot)).toMatchObject([
    { state: 'iteration_step', runId: 'r1', content: 'half an ', role: 'assistant' },
    { state: 'final', message: { content: [{ text: 'whole answer' }] } },
  ]);
  expect(texts(bot.database)).toEqual(['user: question r1', 'assistant: whole answer']);
  await dead.settled(1_000);
  expect(terminals()).toHaveLength(1);
});

/** Claims the run for somebody who is dead at once. */
async function claimedByDead(runId: string, at: number): Promise<Run> {
  const claim = { owner: `dead-${at}`, at, aliveUntil: at + 1 };
  const run = await bot.database.write(() => claimRun(bot.database, runId, claim));
  if (!run) throw new Error('not claimed');
  return run;
}

it('clients are told of a reset also when who took the run up died before it told', async () => {
  await accept(bot, send('r1'), null);
  const first = await claimedByDead('r1', 1);
  await world.bus.live.addPiece(liveRun(bot, first), 0, 'half an ');
  const second = await claimedByDead('r1', 11);
  await world.bus.live.take(liveRun(bot, second));
  await resetForTakeover(bot, await claimedByDead('r1', 21), world.bus.live);
  await resetForTakeover(bot, await claimedByDead('r1', 31), world.bus.live);
  expect(told(bot)).toMatchObject([{ state: 'iteration_step', content: 'half an ' }]);
});

it('an attempt that lost its run while it took it up takes nothing of the newer one away', async () => {
  await accept(bot, send('r1'), null);
  const lost = await claimedByDead('r1', 1);
  const own = await claimedByDead('r1', 11);
  const call = { id: 'c1', name: 'exec', argumentsJson: '{}' };
  const step = { role: 'assistant', text: 'I look', toolCalls: [call] } as const;
  await bot.database.write(() => addRunStep(bot.database, own, step, 12));
  expect(await resetForTakeover(bot, lost, world.bus.live)).toBe(false);
  await interruptTurn(bot, lost);
  expect(runSteps(bot.database, own)).toEqual([step]);
  expect(told(bot)).toEqual([]);
  expect(await resetForTakeover(bot, own, world.bus.live)).toBe(true);
  expect(runSteps(bot.database, own)).toEqual([]);
});

it('a run taken up before clients had any text resets nothing', async () => {
  world.script('answer');
  await accept(bot, send('r1'), { owner: 'dead', at: 1, aliveUntil: 2 });
  await resetForTakeover(bot, await claimed(bot, 'r1', world.turns()), world.bus.live);
  expect(told(bot)).toEqual([]);
});

it('a run that cannot go on ends as interrupted', async () => {
  await accept(bot, send('r1'), null);
  await interruptTurn(bot, await claimed(bot, 'r1', world.turns()));
  expect(terminals()).toMatchObject([
    { state: 'error', errorCode: 'RUN_INTERRUPTED', retryable: true },
  ]);
});

it('what a dead attempt was at ends in the commit that ends its run, and so once', async () => {
  await accept(bot, send('r1'), null);
  const dead = await claimedByDead('r1', 1);
  const call = { id: 'c1', name: 'exec', argumentsJson: '{}' };
  const step = { role: 'assistant', text: '', toolCalls: [call] } as const;
  await bot.database.write(() => addRunStep(bot.database, dead, step, 2));
  let writes = 0;
  const dying = new Proxy(bot.database, {
    get: (target, name) => {
      if (name === 'write' && writes++ > 0) return () => Promise.reject(new Error('killed'));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const first = await claimedByDead('r1', 11);
  await interruptTurn({ ...bot, database: dying }, first).catch(() => undefined);
  await interruptTurn(bot, first);
  const completed = told(bot).filter(({ toolCallId }) => toolCallId === 'c1');
  expect(completed).toMatchObject([{ success: false }]);
  expect(terminals()).toMatchObject([{ errorCode: 'RUN_INTERRUPTED' }]);
});

it('an answer that cannot be written at once is written when it can, without a second call', async () => {
  world.script('answer');
  const turns = world.turns();
  const { claimed: run } = await accept(bot, send('r1'), turns.claim());
  const { database } = bot;
  const full = new ContractError('PROFILE_OPERATION_FAILED', 'The store has no room left.');
  let refusals = 2;
  const refusing = new Proxy(database, {
    get: (target, name) => {
      if (name === 'write' && refusals-- > 0) return () => Promise.reject(full);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  if (run) await world.drive(turns, { ...bot, database: refusing }, run);
  expect(world.errors).toEqual([full, full]);
  expect(terminals()).toMatchObject([{ state: 'final' }]);
  expect(world.models.calls).toHaveLength(1);
});

it('the commit that ends a run hands the session on', async () => {
  world.script('answer');
  const turns = world.turns();
  const { claimed: run } = await accept(bot, send('r1'), turns.claim());
  for (const runId of ['r2', 'r3']) {
    expect((await accept(bot, send(runId), turns.claim())).claimed).toBeNull();
  }
  expect(told(bot)).toEqual([]);
  if (run) await world.drive(turns, bot, run);
  expect(told(bot)).toMatchObject([{ state: 'final' }, { type: 'run', runId: 'r2', attempt: 0 }]);
  await expect(claimed(bot, 'r3', turns)).rejects.toThrow('not free');
  await world.drive(turns, bot, await claimed(bot, 'r2', turns));
  await world.drive(turns, bot, await claimed(bot, 'r3', turns));
  expect(terminals().map(({ runId }) => runId)).toEqual(['r1', 'r2', 'r3']);
  expect(world.models.calls.map((call) => call.messages.at(-1)?.content)).toEqual([
    'question r1',
    'question r2',
    'question r3',
  ]);
});

it('two ends of one claim: the first counts', async () => {
  const turns = world.turns();
  const { claimed: run } = await accept(bot, send('r1'), turns.claim());
  if (!run) throw new Error('not claimed');
  const terminal = {
    state: 'final' as const,
    text: 'one',
    aborted: false,
    usage: null,
    model: 'm',
    completedAt: 2,
    durationMs: 1,
  };
  expect(await commitEnd(bot, run, terminal)).toBe(true);
  expect(await commitEnd(bot, run, { ...terminal, text: 'two' })).toBe(false);
  expect(terminals()).toHaveLength(1);
  expect(texts(bot.database)).toEqual(['user: question r1', 'assistant: one']);
});
