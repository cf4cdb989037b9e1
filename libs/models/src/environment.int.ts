import { ScriptedModelServer } from '@flowly/testing';
import { providerSlots } from '@flowly/contract';
import { providers } from './providers';
import { streamDialect, streamModel } from './stream';
import { dialects, outcomeOf, requestTo, testKey } from './test/request-to';

const before = { ...process.env };
let server: ScriptedModelServer;
let trap: ScriptedModelServer;

beforeEach(async () => {
  server = await ScriptedModelServer.start();
  trap = await ScriptedModelServer.start();
  server.answer(() => 'from the target');
  trap.answer(() => 'from the trap');
  const names = ['OPENAI', 'ANTHROPIC', 'GOOGLE_GENERATIVE_AI', 'OPENAI_COMPATIBLE', 'VLLM'];
  for (const name of names) {
    process.env[`${name}_API_KEY`] = 'key-of-the-environment';
    process.env[`${name}_BASE_URL`] = trap.apiBase;
  }
  for (const name of providerSlots.flatMap((slot) => providers[slot].envKeys)) {
    process.env[name] = 'key-of-the-environment';
  }
  process.env['ANTHROPIC_AUTH_TOKEN'] = 'key-of-the-environment';
  process.env['HTTP_PROXY'] = process.env['http_proxy'] = trap.origin;
});
afterEach(async () => {
  process.env = { ...before };
  await server.close();
  await trap.close();
});

it.each(dialects)('takes key and address of %s from the target alone', async (dialect) => {
  const { text } = await outcomeOf(streamDialect(dialect, requestTo(server, dialect)));
  expect(text).toBe('from the target');
  expect(trap.calls).toHaveLength(0);
  const headers = JSON.stringify(server.calls[0]?.headers);
  expect(headers).toContain(testKey);
  expect(headers).not.toContain('key-of-the-environment');
});

it('sends no key to a server that has none', async () => {
  const { apiKey: _none, ...target } = requestTo(server, 'compatible').target;
  await outcomeOf(streamModel({ ...requestTo(server, 'compatible'), target }));
  expect(server.calls[0]?.headers).not.toHaveProperty('authorization');
});

it.each(providerSlots.filter((slot) => providers[slot].needsKey))(
  'does not find a key for %s in the environment',
  async (slot) => {
    const target = { slot, model: 'm', apiBase: server.apiBase };
    const { error } = await outcomeOf(streamModel({ ...requestTo(server, 'compatible'), target }));
    expect(error).toHaveProperty('message', expect.stringContaining('has no key'));
    expect(server.calls).toHaveLength(0);
  },
);
