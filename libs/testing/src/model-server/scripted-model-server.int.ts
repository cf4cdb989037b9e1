import { Gate } from './gate';
import { ScriptedModelServer } from './scripted-model-server';

let server: ScriptedModelServer;
beforeEach(async () => {
  server = await ScriptedModelServer.start();
});
afterEach(() => server.close());

const post = (path: string, body: object) =>
  fetch(`${server.origin}${path}`, { method: 'POST', body: JSON.stringify(body) });
const ask = (model: string) =>
  post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });
const textOf = async (response: Promise<Response>) =>
  [...(await (await response).text()).matchAll(/"content":"([^"]*)"/g)].map(([, t]) => t).join('');

it('answers each model from its own script, in order, and repeats the last', async () => {
  server.script('a', ['one', 'two']);
  server.script('b', ['other']);
  expect(await textOf(ask('a'))).toBe('one');
  expect(await textOf(ask('b'))).toBe('other');
  expect(await textOf(ask('a'))).toBe('two');
  expect(await textOf(ask('a'))).toBe('two');
  expect(server.callsOf('a')).toHaveLength(3);
});

it('asks the handler for models without a script, and knows no others', async () => {
  server.answer(({ model, messages }) =>
    model === 'echo' ? `you said ${messages[0]?.content}` : undefined,
  );
  expect(await textOf(ask('echo'))).toBe('you said Hi');
  expect((await ask('nobody')).status).toBe(404);
});

it.each([
  ['/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }],
  [
    '/v1/responses',
    { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] },
  ],
  [
    '/v1/messages',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  ],
  [
    '/v1beta/models/m:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
])('records the calls of %s', async (path, body) => {
  server.script('m', ['fine answer']);
  const stream = await (await post(path, body)).text();
  expect(stream).toContain('fine ');
  const [call] = await server.waitForCalls(1, { model: 'm' });
  expect(call).toMatchObject({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  expect(call?.pieceTimes).toHaveLength(2);
  await expect(call?.ended).resolves.toBe('completed');
});

it('holds an answer at a gate before the headers and between pieces', async () => {
  const [first, second] = [new Gate(), new Gate()];
  server.script('m', [{ gate: first.opened, text: ['a', second.opened, 'b'] }]);
  const response = ask('m');
  const [call] = await server.waitForCalls(1);
  first.open();
  const reader = (await response).body?.getReader();
  await reader?.read();
  expect(call?.pieceTimes.length).toBeLessThanOrEqual(1);
  second.open();
  await expect(call?.ended).resolves.toBe('completed');
  await reader?.cancel();
});

it('spaces pieces by the delay', async () => {
  server.script('m', [{ text: ['a', 'b', 'c'], tokenDelayMs: 30 }]);
  await (await ask('m')).text();
  const times = server.calls[0]?.pieceTimes ?? [];
  expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(50);
});

it('says how many calls came when it waited in vain', async () => {
  await expect(server.waitForCalls(2, { model: 'm', timeoutMs: 20 })).rejects.toThrow(
    'model m had 0 of 2 calls after 20 ms',
  );
});

it('answers what it cannot read with 400', async () => {
  expect((await post('/v1/chat/completions', { model: 7 })).status).toBe(400);
  expect((await post('/v1/unknown', {})).status).toBe(404);
});

it('closes connections that hang', async () => {
  server.script('m', [{ fault: { kind: 'hang-before-headers' } }]);
  const response = expect(ask('m')).rejects.toThrow('fetch failed');
  const [call] = await server.waitForCalls(1);
  await server.close();
  await response;
  await expect(call?.ended).resolves.toBe('closed');
  server = await ScriptedModelServer.start();
});
