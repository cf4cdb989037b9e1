import { isStopped, needsInput, openRequestOf, saveStopped } from '@flowly/store';
import { acceptStep } from './accept-turn';
import {
  accept,
  AgentWorld,
  claimed,
  send,
  stateOf,
  stepGiven,
  told,
  until,
} from './agent.harness';
import type { Bot } from './bot';
import { askFor, cancelRequests, decideApproval } from './requests';
import { beginStop, repeatStops, stopBot, stopsGivenBefore } from './stop-bot';

const KEY = 'room-group-run-1-writer';

let world: AgentWorld;
let bot: Bot;
beforeEach(async () => {
  world = await AgentWorld.start();
  bot = await world.bot();
});
afterEach(() => world.stop());

const stop = (on = bot) => on.database.write(() => stopBot(on, Date.now()));

/** A turn of that session waits for consent. */
async function ask(runId: string, sessionKey: string) {
  await accept(bot, send(runId, { sessionKey }), null);
  const run = await claimed(bot, runId, world.turns());
  const body = {
    command: 'ls',
    kind: 'exec',
    supportsAlways: false,
    riskReasons: [],
    cwd: null,
    resolvedPath: null,
  };
  const wanted = { kind: 'approval' as const, body, at: 1_000, forMs: 1e12 };
  const request = await bot.database.write(() => askFor(bot, run, wanted));
  if (!request) throw new Error('The turn may ask.');
  return { run, request };
}

describe('a stop', () => {
  it('ends what waits with an empty text, asks what runs to end, and says so', async () => {
    const turns = world.turns();
    world.script({ text: ['so far'], fault: { kind: 'hang' } });
    await accept(bot, send('running'), null);
    const driven = world.drive(turns, bot, await claimed(bot, 'running', turns));
    await accept(bot, send('waiting'), null);
    await accept(bot, send('too'), null);
    await until(
      async () =>
        (await world.bus.live.read({ botId: 'bot-1', runId: 'running' })).text === 'so far',
    );
    expect((await stop()).map(({ runId }) => runId)).toEqual(['running']);
    turns.wake('bot-1', 'running');
    await driven;
    expect(['running', 'waiting', 'too'].map((id) => stateOf(bot, id))).toEqual(
      Array(3).fill('aborted'),
    );
    const end = (runId: string, text: string) => ({
      state: 'final',
      runId,
      aborted: true,
      message: { content: [{ text }] },
    });
    const said = told(bot).filter((each) => 'state' in each && each['type'] !== 'run');
    expect(said).toMatchObject([
      end('waiting', ''),
      end('too', ''),
      { state: 'stopped', byUser: true },
      end('running', 'so far'),
    ]);
    expect(world.models.calls).toHaveLength(1);
  });

  it('of the default bot ends its runs and is not remembered', async () => {
    const main = { ...bot, name: 'default' };
    await accept(main, send('waiting'), null);
    expect(await stop(main)).toEqual([]);
    expect([stateOf(main, 'waiting'), isStopped(main.database)]).toEqual(['aborted', false]);
    expect(JSON.stringify(told(main))).not.toContain('stopped');
    await accept(main, send('next'), null);
    expect(stateOf(main, 'next')).toBe('accepted');
  });

  it('is ordered of the groups once, and again while it is not done', async () => {
    const command = { id: 'command-1', gateway: 'gateway-1' };
    await bot.database.write(() => beginStop(bot, command, 10));
    const order = { type: 'bot-stopping', bot: 'writer', botId: 'bot-1', command };
    expect(told(bot)).toEqual([order]);
    expect(stopsGivenBefore(bot, 10)).toEqual([]);
    await bot.database.write(() => repeatStops(bot, 11, 20));
    expect(told(bot)).toEqual([order, order]);
    expect(stopsGivenBefore(bot, 20)).toEqual([]);
  });
});

describe('a step for a stopped bot', () => {
  it('fails, and does not begin later under the same key', async () => {
    const turns = world.turns();
    const give = () => acceptStep(bot, stepGiven(KEY), () => turns.claim());
    await stop();
    expect(await give()).toBeNull();
    const failed = {
      type: 'ended',
      stepKey: KEY,
      state: 'error',
      errorCode: 'PROFILE_STOPPED',
      errorMessage: expect.stringMatching(/stopped/),
    };
    expect(told(bot).slice(1)).toMatchObject([failed]);
    await bot.database.write(() => saveStopped(bot.database, false));
    expect(await give()).toBeNull();
    expect(told(bot).slice(2)).toMatchObject([failed]);
    expect(stateOf(bot, KEY)).toBe('error');
  });

  it('that had begun tells its end again as before', async () => {
    const turns = world.turns();
    const give = () => acceptStep(bot, stepGiven(KEY), () => turns.claim());
    const run = await give();
    world.script('answer');
    if (run) await world.drive(turns, bot, run);
    await stop();
    await give();
    expect(told(bot).at(-1)).toMatchObject({ type: 'ended', state: 'final', text: 'answer' });
  });
});

describe('what a bot needs a person for', () => {
  const needs = () =>
    told(bot).flatMap((each) => ('needsInput' in each ? [each['needsInput']] : []));

  it('is told with each change of it, also when nothing is left', async () => {
    const first = await ask('r1', 'desktop:a');
    const second = await ask('r2', 'desktop:b');
    await bot.database.write(() => decideApproval(bot, second.request.id, 'deny', 2_000));
    await bot.database.write(() => decideApproval(bot, second.request.id, 'deny', 2_001));
    await bot.database.write(() => cancelRequests(bot, first.run, 3_000));
    const needed = { sessionKey: 'desktop:a', kind: 'approval', since: 1_000 };
    expect(needs()).toMatchObject([
      { ...needed, count: 1 },
      { count: 2 },
      { ...needed, count: 1 },
      null,
    ]);
    expect(needsInput(bot.database)).toBeNull();
  });

  it('is not told of a session that clients do not see', async () => {
    const { run } = await ask('r1', 'desktop:profile-room:x');
    expect(openRequestOf(bot.database, run.runId)).not.toBeNull();
    expect(needs()).toEqual([]);
  });

  it('is nothing more when the bot was stopped', async () => {
    const { run } = await ask('r1', 'desktop:a');
    const turns = world.turns();
    const hung = world.drive(turns, bot, { ...run, abortRequested: true });
    await stop();
    await hung;
    expect(needs()).toMatchObject([{ count: 1 }, null]);
  });
});
