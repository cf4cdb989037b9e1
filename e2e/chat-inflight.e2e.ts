import { randomUUID } from 'node:crypto';
import { Gate, until, type Answer, type Client } from '@flowly/testing';
import { Conversation, textOf, type Way } from './support/conversation';
import { Joined } from './support/joined';
import { loseRedis } from './support/lose-redis';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'], limits: { ...QUICK_CLOCKS, liveLookMs: 100 } });
beforeAll(async () => {
  for (const bot of ['default', 'writer'])
    await world.client.rpc(bot, 'exec.policy.set', { security: 'full', ask: 'off' });
});

const converse = (way: Way = 'rpc', bot = 'writer') =>
  new Conversation(world.client, `desktop:${randomUUID()}`, way, bot);
const words = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}-${index} `).join('');
const exec = (text: string, ...commands: string[]): Answer => ({
  text,
  tokenDelayMs: 4,
  toolCalls: commands.map((command) => ({ name: 'exec', arguments: { command } })),
});
const ask = (question: string): Answer => ({
  text: 'Wait. ',
  toolCalls: [{ name: 'clarify', arguments: { question } }],
});

const WINDOWS = 6;
const JOINS = 4;

it.each<[Way, string]>([
  ['straight', 'default'],
  ['rpc', 'writer'],
])(
  '%s: at every moment the snapshot and the events after it are the whole answer',
  async (way, bot) => {
    const seed = seedOfThisRun();
    const random = randomBy(seed);
    const chat = converse(way, bot);
    const texts = [words('first', 25), words('second', 15), words('last', 40)] as const;
    const joinedAll = new Gate();
    world.models.script(bot, [
      exec(texts[0], 'echo one', 'echo two'),
      exec(texts[1], 'echo three'),
      { text: [...texts[2].split(/(?<= )/), joinedAll.opened, 'end'], tokenDelayMs: 4 },
    ]);
    const windows = await Promise.all(Array.from({ length: WINDOWS }, () => world.connect()));
    const first = await Joined.by(chat);
    const { runId } = await chat.send('Tell me');
    const said = () => chat.pieces(runId).join('').length;
    const joins = windows.map(async (client) => {
      const moments = Array.from({ length: JOINS }, () => random() * texts.join('').length);
      const joined: Joined[] = [];
      for (const moment of moments.sort((a, b) => a - b)) {
        await until(() => said() >= moment, 10_000, 'the answer does not go on');
        joined.push(await Joined.by(chat.through(client)));
      }
      return joined;
    });
    const joined = (await Promise.all(joins)).flat();
    joinedAll.open();
    const final = textOf(await chat.terminal(runId, 20_000));
    for (const client of windows) await chat.through(client).terminal(runId);
    const whole = first.shows(runId);
    expect(whole).toMatchObject({ text: final, steps: { length: 5 } });
    expect(Object.values(whole.tools)).toEqual(['completed', 'completed', 'completed']);
    expect(joined).toHaveLength(WINDOWS * JOINS);
    for (const each of joined) expect({ seed, ...each.shows(runId) }).toEqual({ seed, ...whole });
  },
);

it.each<[Way, string]>([
  ['straight', 'default'],
  ['rpc', 'writer'],
])('%s: two windows of a conversation are sent the same frames', async (way, bot) => {
  const chat = converse(way, bot);
  const windows = [await world.connect(), await world.connect()];
  for (const client of windows) await chat.through(client).inflight();
  world.models.script(bot, [exec(words('look', 8), 'echo one'), words('last', 12)]);
  const { runId } = await chat.send('Hello');
  for (const client of windows) await chat.through(client).terminal(runId);
  const [one, two] = windows.map(framesOfRuns);
  expect(one).toEqual(two);
  expect(one?.length).toBeGreaterThan(6);
});

function framesOfRuns({ events }: Client) {
  return events.filter(({ event }) => ['agent', 'chat', 'profile.event'].includes(event));
}

it('shows what waits for a person in this session alone, and the run at work while another waits', async () => {
  const chat = converse();
  const other = converse();
  const nothing = {
    inflight: null,
    plan: null,
    compaction: null,
    goal: null,
    approvals: [],
    clarifies: [],
  };
  expect(await chat.inflight()).toEqual(nothing);
  world.models.script('writer', [ask('Which one?'), 'This one.', 'And the next.']);
  const { runId } = await chat.send('Choose');
  const { clarifies } = await until(
    async () => {
      const snapshot = await chat.inflight();
      return snapshot.clarifies.length > 0 ? snapshot : undefined;
    },
    10_000,
    'nothing is asked',
  );
  const waiting = await chat.send('Then go on');
  const { inflight } = await chat.inflight();
  expect(inflight).toMatchObject({
    runId,
    user: 'Choose',
    text: '',
    iterations: [
      { state: 'iteration_step', iterationIdx: 0, role: 'assistant', content: 'Wait. ' },
    ],
    toolProgress: [{ state: 'tool_progress', runId, call: { name: 'clarify', state: 'running' } }],
  });
  expect(await other.inflight()).toEqual(nothing);
  const [question] = clarifies;
  await world.client.rpc('writer', 'agent.clarify.resolve', { id: question?.id, answer: 'Any' });
  expect(textOf(await chat.terminal(waiting.runId))).toBe('And the next.');
  expect(await chat.inflight()).toEqual(nothing);
});

it('is whole again after Redis lost its data', async () => {
  const chat = converse();
  const gate = new Gate();
  world.models.script('writer', [
    exec('Let me look. ', 'echo one'),
    { text: ['It ', 'is ', gate.opened, 'one.'] },
  ]);
  const { runId } = await chat.send('Look');
  await until(() => chat.pieces(runId).join('').endsWith('It is '), 10_000, 'no text');
  await loseRedis(world.system, world.client);
  const client = await world.reconnect();
  const later = chat.through(client);
  const at = await Joined.by(later);
  expect(at.result.inflight).toMatchObject({
    iterations: [{ role: 'assistant' }, { role: 'tool' }],
  });
  const restored = await until(
    async () => {
      const { inflight } = await later.inflight();
      return inflight?.text === 'It is ' ? inflight : undefined;
    },
    10_000,
    'the record is not written anew',
  );
  expect(restored).toMatchObject({
    iterations: [{ role: 'assistant', content: 'Let me look. ' }, { role: 'tool' }],
    toolProgress: [{ call: { state: 'completed' } }],
  });
  const whole = await Joined.by(later);
  gate.open();
  expect(textOf(await later.terminal(runId))).toBe('It is one.');
  for (const joined of [at, whole]) expect(joined.shows(runId).text).toBe('It is one.');
});

it('is the new attempt after the runner died', async () => {
  const chat = converse();
  const [died, joinedAll] = [new Gate(), new Gate()];
  world.models.script('writer', [
    { text: ['half an ', died.opened] },
    { text: ['the ', 'whole ', joinedAll.opened, 'answer'] },
  ]);
  const { runId } = await chat.send('Hello');
  await chat.shows(runId, 'half an ');
  const later = chat.through(await world.connect());
  const joins = [await Joined.by(chat)];
  await world.system.service('bot-runner').restart();
  joins.push(await Joined.by(chat));
  await until(() => chat.pieces(runId).join('').endsWith('whole '), 20_000, 'no new attempt');
  joins.push(await Joined.by(later));
  joinedAll.open();
  expect(textOf(await chat.terminal(runId, 20_000))).toBe('the whole answer');
  await later.terminal(runId);
  died.open();
  for (const joined of joins) expect(joined.shows(runId).text).toBe('the whole answer');
});
