import { ScriptedModelServer, type Answer } from '@flowly/testing';
import { ModelAborted, ModelFailure } from './failure';
import { streamModel } from './stream';
import { outcomeOf, requestTo } from './test/request-to';

let server: ScriptedModelServer;
beforeEach(async () => {
  server = await ScriptedModelServer.start();
});
afterEach(() => server.close());

const status = (code: number, headers: Record<string, string> = {}): Answer => ({
  fault: { kind: 'status', status: code, headers },
});
const ask = (answers: (Answer | string)[], limits = {}) => {
  server.script('m', answers);
  const request = requestTo(server, 'compatible', { limits: { maxRetries: 2, ...limits } });
  return outcomeOf(streamModel(request));
};

it.each<[string, Answer]>([
  ['408', status(408)],
  ['429', status(429)],
  ['500', status(500)],
  ['503', status(503)],
  ['a reset before the headers', { fault: { kind: 'reset', after: 0 } }],
])('tries again after %s', async (_name, answer) => {
  expect(await ask([answer, answer, 'third time'])).toMatchObject({
    text: 'third time',
    error: null,
  });
  expect(server.calls).toHaveLength(3);
});

it('gives up after the last retry', async () => {
  const { error } = await ask([status(503)]);
  expect(error).toBeInstanceOf(ModelFailure);
  expect(server.calls).toHaveLength(3);
});

it.each<[string, Answer]>([
  ['a refusal', status(400)],
  ['broken JSON', { text: 'a', fault: { kind: 'broken-json', after: 0 } }],
  ['an end without text', { text: 'a', fault: { kind: 'no-close', after: 0 } }],
  ['a reset after the first token', { text: ['a', 'b'], fault: { kind: 'reset', after: 1 } }],
])('does not try again after %s', async (_name, answer) => {
  expect((await ask([answer, 'second'])).error).toBeInstanceOf(ModelFailure);
  expect(server.calls).toHaveLength(1);
});

it('waits as long as the provider asks', async () => {
  const { text } = await ask([status(429, { 'retry-after': '0.3' }), 'ok']);
  expect(text).toBe('ok');
  const [first, second] = server.calls;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(290);
});

it.each([
  ['seconds', '3600'],
  ['a date', new Date(Date.now() + 3_600_000).toUTCString()],
])('does not wait for a long Retry-After in %s', async (_name, retryAfter) => {
  const { error } = await ask([status(429, { 'retry-after': retryAfter }), 'ok']);
  expect(error).toBeInstanceOf(ModelFailure);
  expect(server.calls).toHaveLength(1);
});

it('bounds all tries together by the time to the first byte', async () => {
  const { error } = await ask([status(503), { fault: { kind: 'hang-before-headers' } }], {
    firstByteMs: 300,
    retryDelayMs: 50,
  });
  expect(error).toHaveProperty('message', expect.stringContaining('did not begin to answer'));
  expect(server.calls).toHaveLength(2);
});

it('can be stopped between two tries', async () => {
  server.script('m', [status(503)]);
  const caller = new AbortController();
  const limits = { maxRetries: 2, retryDelayMs: 4_000 };
  const outcome = outcomeOf(
    streamModel(requestTo(server, 'compatible', { signal: caller.signal, limits })),
  );
  await (
    await server.waitForCalls(1)
  )[0]?.ended;
  caller.abort();
  expect((await outcome).error).toBeInstanceOf(ModelAborted);
});
