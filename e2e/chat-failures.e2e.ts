import { randomUUID } from 'node:crypto';
import type { Answer } from '@flowly/testing';
import { Conversation, textOf } from './support/conversation';
import { useWorld } from './support/world';

const world = useWorld({
  bots: ['writer'],
  limits: {
    modelRetries: 1,
    modelRetryDelayMs: 10,
    modelFirstByteMs: 400,
    modelBetweenBytesMs: 400,
  },
});

const converse = () => new Conversation(world.client, `ios:${randomUUID()}`, 'rpc', 'writer');

/** A failing turn ends once, and the session takes the next one. */
async function expectOneEnd(answer: Answer): Promise<string> {
  const chat = converse();
  world.models.script('writer', [answer]);
  const { runId } = await chat.send('Hello');
  const end = await chat.terminal(runId);
  world.models.script('writer', ['All well']);
  const next = await chat.send('Still there?');
  expect(textOf(await chat.terminal(next.runId))).toBe('All well');
  expect(chat.terminals(runId)).toHaveLength(1);
  const receipt = await chat.send('Hello', { idempotencyKey: runId });
  expect(receipt.status).toBe(end.state === 'error' ? 'error' : 'completed');
  if (end.state === 'final') return 'final';
  expect(end).toMatchObject({
    errorCode: 'MODEL_PROVIDER_UNAVAILABLE',
    errorTitle: "The model couldn't respond",
  });
  expect(end.errorMessage).toMatch(/^[A-Z].*/);
  return end.errorMessage;
}

it.each<[string, Answer['fault']]>([
  ['hangs before its first byte', { kind: 'hang-before-headers' }],
  ['hangs in mid-answer', { kind: 'hang', after: 2 }],
  ['resets at once', { kind: 'reset', after: 0 }],
  ['resets in mid-answer', { kind: 'reset', after: 2 }],
  ['sends broken JSON', { kind: 'broken-json', after: 2 }],
  ['reports an error inside the stream', { kind: 'error-event', message: 'overloaded', after: 2 }],
  ['answers 500', { kind: 'status', status: 500 }],
  ['answers 429', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
  ['answers 401', { kind: 'status', status: 401 }],
])('a provider that %s ends the turn in one error', async (_, fault) => {
  if (fault === undefined) throw new Error('a fault is named');
  expect(await expectOneEnd({ text: 'a b c d', fault })).not.toBe('final');
});

it('a provider that ends without its closing line ends the turn in one terminal', async () => {
  await expectOneEnd({ text: 'a b c d', fault: { kind: 'no-close' } });
});

it('a provider that sends no usage ends the turn as usual, with none', async () => {
  const chat = converse();
  world.models.script('writer', [{ text: 'No usage', usage: null }]);
  const { runId } = await chat.send('Hello');
  const final = await chat.terminal(runId);
  expect(textOf(final)).toBe('No usage');
  expect(final).toMatchObject({ message: { usage: {} } });
});

it('is asked again before the first token only', async () => {
  const chat = converse();
  world.models.script('writer', [{ fault: { kind: 'status', status: 503 } }, 'At last']);
  const { runId } = await chat.send('Hello');
  expect(textOf(await chat.terminal(runId))).toBe('At last');
  const before = world.models.callsOf('writer').length;
  world.models.script('writer', [{ text: 'a b', fault: { kind: 'reset', after: 1 } }]);
  const second = await chat.send('And now?');
  expect((await chat.terminal(second.runId)).state).toBe('error');
  expect(world.models.callsOf('writer').length - before).toBe(1);
});

it('a missing key names the provider and where its key goes', async () => {
  await world.client.call('profiles.create', {
    name: 'keyless',
    cloneFrom: null,
    provider: 'openai',
  });
  const chat = new Conversation(world.client, 'ios:keyless', 'rpc', 'keyless');
  const { runId } = await chat.send('Hello');
  const end = await chat.terminal(runId);
  expect(end).toMatchObject({ state: 'error', errorCode: 'MODEL_PROVIDER_UNAVAILABLE' });
  if (end.state !== 'error') throw new Error('it is an error');
  expect(end.errorMessage).toContain('OpenAI');
  expect(end.errorMessage).toContain('providers.openai.apiKey');
  expect(end.errorMessage).toContain('OPENAI_API_KEY');
});

it('a bot without any provider says so and its session stays free', async () => {
  await world.client.call('profiles.create', { name: 'nothing', cloneFrom: null });
  const { provider } = await world.client.rpc('nothing', 'provider.active');
  expect(provider).toBeNull();
  const chat = new Conversation(world.client, 'ios:nothing', 'rpc', 'nothing');
  for (let count = 0; count < 2; count++) {
    const { runId } = await chat.send('Hello');
    expect((await chat.terminal(runId)).state).toBe('error');
  }
});

it('the settings count from the next turn on', async () => {
  const chat = converse();
  world.models.script('other', ['The other model']);
  await world.client.call('profiles.configure', { name: 'writer', model: 'other' });
  const { runId } = await chat.send('Hello');
  expect(textOf(await chat.terminal(runId))).toBe('The other model');
  await world.client.call('profiles.configure', { name: 'writer', model: 'writer' });
});
