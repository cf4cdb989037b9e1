import { findRun, runsToTakeUp } from '@flowly/store';
import { accept, AgentWorld, claimed, send, stateOf, told } from './agent.harness';
import type { Bot } from './bot';
import type { TurnSignals } from './turn-context';

let world: AgentWorld;
let bot: Bot;
beforeEach(async () => {
  world = await AgentWorld.start();
  bot = await world.bot();
});
afterEach(() => world.stop());

const HUNG = { fault: { kind: 'hang-before-headers' } } as const;

async function hang(
  turns: ReturnType<AgentWorld['turns']>,
  runId: string,
  sessionKey = 'desktop:c1',
) {
  world.script(HUNG);
  const asked = world.models.calls.length;
  const { claimed: run } = await accept(bot, send(runId, { sessionKey }), turns.claim());
  if (!run) throw new Error(`${runId} was not claimed`);
  const done = world.drive(turns, bot, run);
  await world.models.waitForCalls(asked + 1);
  return { run, done };
}

it('renews what it drives and lets go of what another has taken over', async () => {
  const turns = world.turns();
  const kept = await hang(turns, 'kept', 'desktop:a');
  const taken = await hang(turns, 'taken', 'desktop:b');
  const before = findRun(bot.database, 'kept')?.aliveUntil ?? 0;
  bot.database.run(`UPDATE runs SET owner = 'other', epoch = epoch + 1 WHERE run_id = 'taken'`);
  await turns.renew();
  await taken.done;
  expect(turns.count).toBe(1);
  expect(stateOf(bot, 'taken')).toBe('running');
  expect(findRun(bot.database, 'kept')?.aliveUntil).toBeGreaterThanOrEqual(before);
  turns.wake(bot.botId, 'kept');
  await kept.done;
  expect(told(bot)).toMatchObject([{ state: 'final', runId: 'kept', aborted: true }]);
});

it('a run of its own that it has claimed anew is driven by the newer attempt alone', async () => {
  const turns = world.turns();
  const old = await hang(turns, 'r1');
  bot.database.run('UPDATE runs SET alive_until = 1');
  const again = await claimed(bot, 'r1', turns);
  world.script('answer');
  await Promise.all([world.drive(turns, bot, again), old.done]);
  expect(told(bot)).toMatchObject([{ state: 'final', message: { content: [{ text: 'answer' }] } }]);
});

it('handOver gives every run away at once and for good, and ends none', async () => {
  const turns = world.turns();
  const { run, done } = await hang(turns, 'r1');
  await turns.handOver();
  await turns.renew();
  await done;
  expect(told(bot)).toEqual([]);
  expect(runsToTakeUp(bot.database, Date.now()).map(({ runId }) => runId)).toEqual(['r1']);
  expect((await claimed(bot, 'r1', world.turns('next'))).epoch).toBe(run.epoch + 1);
});

it('a run whose driving failed is given up, although others of its bot go on', async () => {
  const turns = world.turns();
  const going = await hang(turns, 'going', 'desktop:a');
  const { claimed: run } = await accept(
    bot,
    send('failed', { sessionKey: 'desktop:b' }),
    turns.claim(),
  );
  if (!run) throw new Error('not claimed');
  const failing = turns.start(bot, run, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  await turns.renew();
  await turns.renew();
  expect(runsToTakeUp(bot.database, Date.now()).map(({ runId }) => runId)).toEqual(['failed']);
  turns.wake(bot.botId, 'going');
  await going.done;
});

it('a database that cannot be written costs the others nothing', async () => {
  const turns = world.turns();
  const other = await AgentWorld.start();
  const gone = await other.bot();
  const { claimed: lost } = await accept(gone, send('r1'), turns.claim());
  if (!lost) throw new Error('not claimed');
  const idle = (signals: TurnSignals) =>
    new Promise<void>((resolve) => signals.abort.addEventListener('abort', () => resolve()));
  const idling = turns.start({ ...gone, botId: 'gone' }, lost, idle);
  const kept = await hang(turns, 'r1');
  gone.database.close();
  bot.database.run('UPDATE runs SET alive_until = 1');
  await expect(turns.renew()).rejects.toThrow();
  expect(findRun(bot.database, 'r1')?.aliveUntil).toBeGreaterThan(Date.now());
  turns.wake('gone', 'r1');
  turns.wake(bot.botId, 'r1');
  await Promise.all([idling, kept.done]);
  await other.stop();
});

it('settled resolves when no turn is left, or when the time is over', async () => {
  const turns = world.turns();
  await turns.settled(10_000);
  const { done } = await hang(turns, 'r1');
  await turns.settled(1);
  expect(turns.count).toBe(1);
  turns.wake(bot.botId, 'r1');
  await turns.settled(10_000);
  expect(turns.count).toBe(0);
  await done;
});

it('a run whose stop is a row already is aborted when it starts', async () => {
  world.script('never asked');
  const turns = world.turns();
  await accept(bot, send('r1'), null);
  bot.database.run('UPDATE runs SET abort_requested = 1');
  await world.drive(turns, bot, await claimed(bot, 'r1', turns));
  expect(told(bot)).toMatchObject([{ state: 'final', aborted: true }]);
  expect(world.models.calls).toHaveLength(0);
});
