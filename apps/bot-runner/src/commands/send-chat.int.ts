import { randomUUID } from 'node:crypto';
import { findRun } from '@flowly/store';
import { call, RunnerWorld, until } from '../runner.harness';
import type { Runner } from '../runner';
import { reconcileBots } from '../turns/reconciler';

let world: RunnerWorld;
beforeEach(async () => {
  world = await RunnerWorld.start({ aliveMs: 300 });
});
afterEach(() => world.stop());

const send = (
  runner: Runner,
  idempotencyKey: string,
  { message = 'Hello', sessionKey = `desktop:${idempotencyKey}`, id = randomUUID() } = {},
) => call(runner, 'chat.send', { sessionKey, message, idempotencyKey }, { id });

async function stateOf(runner: Runner, runId: string) {
  const { database } = await runner.openBots.open('default');
  return findRun(database, runId)?.state;
}

const finals = () =>
  world.events.filter(({ event }) => event.includes('"state":"final"')).map(({ event }) => event);

it('starts a free session’s run at once and gives its slot back', async () => {
  const runner = await world.runner(2);
  const worker = { concurrency: 0 };
  runner.slots.share(worker);
  await send(runner, 'r1');
  expect(worker.concurrency).toBe(1);
  await until(async () => (await stateOf(runner, 'r1')) === 'completed');
  await until(() => worker.concurrency === 2);
  await until(() => finals().length === 1);
});

it('gives the slot back for what starts nothing: a repeat, a conflict, a busy session', async () => {
  const runner = await world.runner(3);
  const worker = { concurrency: 0 };
  runner.slots.share(worker);
  const sessionKey = 'desktop:c1';
  await send(runner, 'r1', { message: '[slow 1s]', sessionKey });
  const busy = worker.concurrency;
  await send(runner, 'r1', { message: '[slow 1s]', sessionKey });
  await send(runner, 'r2', { sessionKey });
  for (let n = 0; n < 5; n++) {
    const conflict = send(runner, 'r2', { message: 'another', sessionKey });
    await expect(conflict).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  }
  expect(worker.concurrency).toBeGreaterThanOrEqual(busy);
  await world.takeTurns(runner);
  await until(async () => (await stateOf(runner, 'r2')) === 'completed');
  await until(() => worker.concurrency === 3);
  expect((await world.answers()).map(({ outcome }) => outcome)).toMatchObject([
    { result: { runId: 'r1', status: 'accepted' } },
    { result: { runId: 'r1', replayed: true } },
    { result: { runId: 'r2', status: 'accepted' } },
  ]);
});

it('a send that finds no slot waits in the queue', async () => {
  const runner = await world.runner(1);
  await send(runner, 'r1');
  expect(await stateOf(runner, 'r1')).toBe('accepted');
  await world.takeTurns(runner);
  await until(async () => (await stateOf(runner, 'r1')) === 'completed');
});

it('the same command delivered again answers again and runs once', async () => {
  const runner = await world.runner();
  const id = randomUUID();
  await send(runner, 'r1', { id });
  await send(runner, 'r1', { id });
  await until(() => world.replies.length === 2 && finals().length === 1);
  const [first, second] = await world.answers();
  expect(second).toEqual(first);
});

it('a run whose runner has died is taken up by another and ends once', async () => {
  const dying = await world.runner();
  await send(dying, 'r1', { message: '[slow 1s]' });
  const { database } = await dying.openBots.open('default');
  // As if it had died: nobody renews the claim.
  await until(() => (findRun(database, 'r1')?.aliveUntil ?? Infinity) < Date.now());
  const next = await world.runner();
  await world.takeTurns(next);
  await until(async () => {
    await next.turns.renew();
    await reconcileBots(next);
    return (await stateOf(next, 'r1')) === 'completed';
  });
  await until(() => dying.turns.count === 0);
  expect(findRun(database, 'r1')?.epoch).toBeGreaterThan(1);
  expect(database.all('SELECT role FROM messages ORDER BY id')).toEqual([
    { role: 'user' },
    { role: 'assistant' },
  ]);
  await next.relays.of((await next.openBots.open('default')).database).drain();
  await until(() => finals().length > 0);
  expect(finals()).toHaveLength(1);
});

it('G213: a run has the host’s own fields, and nothing a client says in their place', async () => {
  const runner = await world.runner();
  for (const name of ['writer', 'reviewer'])
    await call(runner, 'bots.create', { name, cloneFrom: null });
  await call(
    runner,
    'chat.send',
    {
      sessionKey: 'ios:thread-1',
      message: 'Ask @reviewer',
      idempotencyKey: 'run-1',
      profileDirectory: ['spoofed'],
      profileMentions: ['reviewer', 'writer', 'missing'],
      profileMessageContext: { sourceProfile: 'spoofed', hop: 3 },
      allowedTools: ['exec'],
      disabledTools: ['message_profile'],
      turnOrigin: 'routine',
    },
    { bot: { name: 'writer' } },
  );
  const { database } = await runner.openBots.open('writer');
  const params: unknown[] = database.all('SELECT params FROM runs');
  expect(params).toEqual([{ params: expect.any(String) }]);
  expect(findRun(database, 'run-1')).toMatchObject({
    host: {
      turnOrigin: 'user',
      profileDirectory: ['default', 'reviewer', 'writer'],
      profileMentions: ['reviewer'],
    },
    disabledTools: [],
  });
  expect(JSON.stringify(params)).not.toMatch(/spoofed|allowedTools|message_profile|routine/);
});
