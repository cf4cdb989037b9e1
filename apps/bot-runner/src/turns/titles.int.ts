import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { saveStopped } from '@flowly/store';
import { Gate, type ScriptedModelServer } from '@flowly/testing';
import { Talk, useModelServer } from '../conversation.harness';
import { call, RunnerWorld, until } from '../runner.harness';
import { Titles } from './titles';

/** For tests in which the model takes too long. */
const SHORT_MS = 300;

let world: RunnerWorld;
let models: ScriptedModelServer;
async function start(titleMs = 10_000) {
  world = await RunnerWorld.start({ titleMs });
  models = await useModelServer(world);
  models.answer(() => 'An answer');
  return world.runner();
}
afterEach(async () => {
  await models.close();
  await world.stop();
});

it('a model names the conversation after its first exchange, once', async () => {
  const runner = await start();
  const talk = new Talk(world, 'web:a');
  models.title(() => '"A  trip\nto Rome"');
  await talk.send(runner, 'r1', { modelOverride: 'm7' });
  await until(async () => (await talk.row(runner))?.title === 'A trip');
  expect(await talk.row(runner)).toMatchObject({ title: 'A trip', displayName: 'A trip' });
  await talk.send(runner, 'r2');
  await talk.ended('r2');
  await runner.titles.close();
  expect(models.titleCalls.map(({ model, tools }) => [model, tools])).toEqual([['m7', []]]);
  const asked = models.titleCalls[0]?.messages.map(({ content }) => content).join();
  expect(asked).toMatch(/question r1[^]*An answer/);
  const [final] = talk.terminals('r1');
  expect(final).toMatchObject({ message: { usage: { prompt_tokens: 10, completion_tokens: 2 } } });
});

it.each([
  ['fails', { fault: { kind: 'status', status: 500 } } as const],
  ['says nothing of use', '""'],
  ['takes too long', { gate: new Gate().opened, text: 'never' }],
])('the first words are the title when the model %s', async (_, answer) => {
  const runner = await start(SHORT_MS);
  const talk = new Talk(world);
  models.title(() => answer);
  await talk.send(runner, 'r1', { message: '\n How do I  get to Rome?\nBy train' });
  await until(async () => (await talk.row(runner))?.title === 'How do I get to Rome?');
});

it('the built-in model is not asked', async () => {
  const runner = await start();
  const config = { agents: { defaults: { provider: 'demo' } } };
  writeFileSync(join(world.home, 'config.json'), JSON.stringify(config));
  const talk = new Talk(world);
  await talk.send(runner, 'r1', { message: 'Hello there' });
  await until(async () => (await talk.row(runner))?.title === 'Hello there');
});

it('nor is that of a bot that was stopped meanwhile', async () => {
  const runner = await start();
  const { database } = await runner.openBots.open('default');
  const talk = new Talk(world);
  const gate = new Gate();
  models.script('m', [{ text: ['so far', gate.opened] }]);
  await talk.send(runner, 'r1', { message: 'Hello there' });
  await models.waitForCalls(1);
  await database.write(() => saveStopped(database, true));
  gate.open();
  await until(async () => (await talk.row(runner))?.title === 'Hello there');
  expect(models.titleCalls).toEqual([]);
});

it('holds up neither the next turn nor other sessions, nor a slot', async () => {
  const runner = await start();
  const worker = { concurrency: 0 };
  runner.slots.share(worker);
  const { concurrency } = worker;
  const gate = new Gate();
  models.title(() => ({ gate: gate.opened, text: 'Late' }));
  const [one, other] = [new Talk(world), new Talk(world, 'ios:b')];
  await one.send(runner, 'r1');
  await until(() => models.titleCalls.length === 1);
  await until(() => worker.concurrency === concurrency);
  await one.send(runner, 'r2');
  await other.send(runner, 'r3');
  await world.takeTurns(runner);
  await one.ended('r2');
  await other.ended('r3');
  expect((await one.row(runner))?.title).toBeNull();
  gate.open();
  await until(async () => (await one.row(runner))?.title === 'Late');
});

it('one that a dead runner has left is made by rule when it is due', async () => {
  const dying = await start(SHORT_MS);
  const talk = new Talk(world);
  models.title(() => ({ gate: new Gate().opened, text: 'never' }));
  jest.spyOn(dying.titles, 'begin').mockImplementation(() => undefined); // It dies right after the turn.
  await talk.send(dying, 'r1');
  await talk.ended('r1');
  const next = await world.runner();
  const bots = [await next.openBots.open('default')];
  await until(async () => {
    await next.titles.makeOverdue(bots);
    return (await talk.row(next))?.title === 'question r1';
  });
});

it('none for an internal session', async () => {
  const runner = await start();
  const bot = await runner.openBots.open('default');
  const sessionKey = 'desktop:profile-room:11111111-1111-4111-8111-111111111111';
  await world.takeTurns(runner);
  await runner.bus.queues.add('bot-turns', [
    {
      id: 't1',
      data: await runner.bus.large.pack({
        type: 'step',
        stepKey: 's1',
        groupId: '11111111-1111-4111-8111-111111111111',
        runId: 'g1',
        bot: 'default',
        sessionKey,
        prompt: 'Hello',
        disabledTools: [],
      }),
    },
  ]);
  await until(() => world.told.some(({ type }) => type === 'ended'));
  await runner.titles.makeOverdue([bot]);
  expect(bot.database.get('SELECT title FROM sessions WHERE key = ?', sessionKey)).toEqual({
    title: null,
  });
  expect(models.titleCalls).toEqual([]);
});

it('a deleted conversation that is begun anew gets a title of its own', async () => {
  const runner = await start(SHORT_MS);
  const talk = new Talk(world);
  const gate = new Gate();
  models.title(() => ({ gate: gate.opened, text: 'The first' }));
  await talk.send(runner, 'r1');
  await until(() => models.titleCalls.length === 1);
  await call(runner, 'sessions.delete', { sessionKey: talk.sessionKey });
  await talk.send(runner, 'r2');
  await talk.ended('r2');
  gate.open();
  await until(async () => {
    await runner.titles.makeOverdue([await runner.openBots.open('default')]);
    return (await talk.row(runner))?.title !== null;
  });
  expect((await talk.row(runner))?.title).toBe('question r2');
});

it('an error that nobody expects is told without the conversation', async () => {
  const runner = await start();
  const errors: unknown[] = [];
  const titles = new Titles(10_000, (error) => errors.push(error));
  const talk = new Talk(world);
  models.title(() => 'A secret title');
  jest.spyOn(runner.titles, 'begin').mockImplementation((bot, run) => {
    bot.database.exec(
      'CREATE TRIGGER broken BEFORE UPDATE OF title ON sessions BEGIN SELECT RAISE(FAIL, 1); END',
    );
    titles.begin(bot, run);
  });
  await talk.send(runner, 'r1', { message: 'A secret question' });
  await until(() => errors.length === 1);
  expect(String(errors[0])).not.toContain('secret');
});
