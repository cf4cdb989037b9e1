import { addRunStep, endRun, type Run } from '@flowly/store';
import { accept, AgentWorld, claimed, send, SESSION } from './agent.harness';
import type { Bot } from './bot';
import { inflightOf } from './inflight';
import { liveRun } from './live-run';

let world: AgentWorld;
let bot: Bot;
beforeEach(async () => {
  world = await AgentWorld.start();
  bot = await world.bot();
});
afterEach(() => world.stop());

const snapshot = async () => (await inflightOf(bot, SESSION, world.bus.live)).result.inflight;

async function begun(runId: string): Promise<Run> {
  await accept(bot, send(runId), null);
  return claimed(bot, runId, world.turns());
}

/** Stores a step with one call and the result of it, and tells as many of the two. */
async function step(run: Run, id: string, text: string, told: 0 | 1 | 2): Promise<void> {
  const { live } = world.bus;
  const before = (await live.snapshot({ botId: bot.botId, runId: run.runId })).steps.count;
  const call = { id, name: 'exec', argumentsJson: '{}' };
  await bot.database.write(() => {
    const assistant = { role: 'assistant', text: `before ${id}`, toolCalls: [call] } as const;
    addRunStep(bot.database, run, assistant, 1);
    addRunStep(bot.database, run, { role: 'tool', text, toolCallId: id, toolName: 'exec' }, 2);
  });
  if (told > 0) await live.addStep(liveRun(bot, run), [], before);
  const noted = { call: { ...call, state: 'completed', startedAt: 1 }, calls: [] } as const;
  const steps = { before: before + 1, after: before + 2 };
  if (told > 1) await live.addCall(liveRun(bot, run), { ...noted, steps }, []);
}

const names = (steps: { role: string; iterationIdx: number; content: string }[] = []) =>
  steps.map(({ role, iterationIdx, content }) => `${iterationIdx} ${role} ${content}`);

it('nothing before the first run and while none has begun', async () => {
  expect(await snapshot()).toBeNull();
  await accept(bot, send('r1'), null);
  expect(await snapshot()).toBeNull();
});

it('holds a run from its claim on, and of its steps those that were told', async () => {
  const run = await begun('r1');
  expect(await snapshot()).toEqual({ runId: 'r1', text: '', user: 'question r1', iterations: [] });
  await step(run, 'c1', 'one', 2);
  await world.bus.live.addPiece(liveRun(bot, run), 0, 'So ', 2);
  expect(await snapshot()).toMatchObject({ text: 'So ' });
  await step(run, 'c2', 'two', 1);
  const shown = await snapshot();
  expect(shown?.text).toBe('');
  expect(names(shown?.iterations)).toEqual([
    '0 assistant before c1',
    '0 tool one',
    '1 assistant before c2',
  ]);
  expect(shown?.iterations).toMatchObject([
    { tool_calls: [{ id: 'c1', type: 'function', function: { name: 'exec' } }] },
    { tool_call_id: 'c1', name: 'exec' },
    { state: 'iteration_step', runId: 'r1', sessionKey: SESSION },
  ]);
});

it('holds a run until its terminal is among the events', async () => {
  const run = await begun('r1');
  await world.bus.live.addPiece(liveRun(bot, run), 0, 'All of it');
  await accept(bot, send('r2'), null);
  const message = {
    text: 'All of it',
    usage: null,
    model: 'm',
    durationMs: 1,
    aborted: false,
    toolCalls: [],
  };
  await bot.database.write(() =>
    endRun(bot.database, {
      runId: 'r1',
      epoch: 1,
      state: 'completed',
      outcome: {},
      message,
      at: 5,
    }),
  );
  expect(await snapshot()).toMatchObject({ runId: 'r1', text: 'All of it', iterations: [] });
  const final = { kind: 'bot', bot: bot.name, botId: bot.botId, sessionKey: SESSION } as const;
  const closed = [{ botId: bot.botId, runId: 'r1' }];
  await world.bus.publisher.publish('db', 1, { ...final, type: 'chat', data: {} }, { closed });
  expect(await snapshot()).toBeNull();
  await claimed(bot, 'r2', world.turns());
  expect(await snapshot()).toMatchObject({ runId: 'r2', text: '' });
});

it('after Redis lost its data holds what is stored, and nothing of a run that has ended', async () => {
  const run = await begun('r1');
  await step(run, 'c1', 'one', 2);
  await world.bus.redis.flushall();
  expect(names((await snapshot())?.iterations)).toEqual(['0 assistant before c1', '0 tool one']);
  await bot.database.write(() =>
    endRun(bot.database, {
      runId: 'r1',
      epoch: 1,
      state: 'error',
      outcome: {},
      message: null,
      at: 5,
    }),
  );
  expect(await snapshot()).toBeNull();
});

it('is of the newer run when one begins while it is asked', async () => {
  const run = await begun('r1');
  let asked = 0;
  const live = {
    snapshot: async (of: { botId: string; runId: string }) => {
      const shown = await world.bus.live.snapshot(of);
      if (++asked > 1) return shown;
      await bot.database.write(() =>
        endRun(bot.database, {
          runId: run.runId,
          epoch: 1,
          state: 'error',
          outcome: {},
          message: null,
          at: 5,
        }),
      );
      await begun('r2');
      return shown;
    },
  };
  const { result } = await inflightOf(bot, SESSION, live);
  expect(result.inflight).toMatchObject({ runId: 'r2', user: 'question r2' });
  expect(asked).toBe(2);
});

it('holds the newest steps that fit into a line', async () => {
  const run = await begun('r1');
  for (let index = 0; index < 12; index++) await step(run, `c${index}`, 'x'.repeat(200_000), 2);
  const { iterations = [] } = (await snapshot()) ?? {};
  expect(Buffer.byteLength(JSON.stringify(iterations))).toBeLessThan(1.6 * 1024 * 1024);
  expect(iterations.length).toBeGreaterThan(10);
  expect(iterations.at(-1)).toMatchObject({ role: 'tool', iterationIdx: 11 });
});
