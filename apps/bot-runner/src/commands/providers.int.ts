import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  botMethods,
  providerKeyNames,
  providerSlots,
  type MethodResult,
  type ProviderSlot,
} from '@flowly/contract';
import { call, RunnerWorld } from '../runner.harness';
import type { Runner } from '../runner';

let world: RunnerWorld;
let runner: Runner;
beforeAll(async () => {
  world = await RunnerWorld.start();
  runner = await world.runner();
});
beforeEach(() => write({}, ''));
afterAll(() => world.stop());

function write(config: object, env: string): void {
  writeFileSync(join(world.home, 'config.json'), JSON.stringify(config));
  writeFileSync(join(world.home, '.env'), env);
}

async function answerOf(method: 'provider.list' | 'provider.active' | 'model.list', params = {}) {
  const answer = await call(runner, method, params);
  if (answer === 'follows from the commit') throw new Error('a read answers');
  expect(JSON.stringify(answer)).not.toContain('secret');
  return answer.result;
}
const list = async (): Promise<MethodResult<'provider.list'>> =>
  botMethods['provider.list'].result.parse(await answerOf('provider.list'));
const active = () => answerOf('provider.active');

it('lists every slot in its order; only demo takes no key', async () => {
  const { providers, active: none, resolved } = await list();
  expect(providers.map(({ key }) => key)).toEqual(providerSlots);
  expect(providers.filter(({ keyable }) => !keyable).map(({ key }) => key)).toEqual(['demo']);
  expect(providers.every(({ name, hasKey, isActive }) => name && !hasKey && !isActive)).toBe(true);
  expect(providers.find(({ key }) => key === 'openai')?.apiBase).toBe('https://api.openai.com/v1');
  expect(providers.find(({ key }) => key === 'demo')?.apiBase).toBeNull();
  expect([none, resolved]).toEqual([null, null]);
  expect(await active()).toEqual({ provider: null, model: null });
  expect(await answerOf('model.list')).toEqual({ provider: null, models: [] });
});

it('the first slot of the list that has a key is the active one, wherever its key is', async () => {
  const keyed = providerSlots.filter((slot) => slot !== 'demo');
  for (const [index, slot] of keyed.entries()) {
    const later = keyed.slice(index + 1).map((other) => [other, { apiKey: 'secret' }] as const);
    write({ providers: Object.fromEntries(later) }, `${providerKeyNames[slot][0]}=secret\n`);
    const { providers, ...chosen } = await list();
    expect(chosen).toEqual({ active: slot, resolved: { key: slot, source: 'env' } });
    expect(providers.filter(({ isActive }) => isActive).map(({ key }) => key)).toEqual([slot]);
    expect(providers.filter(({ hasKey }) => hasKey).map(({ key }) => key)).toEqual(
      keyed.slice(index),
    );
  }
});

const keyNames = providerSlots.flatMap((slot) =>
  providerKeyNames[slot].map((name): [string, ProviderSlot] => [name, slot]),
);
it.each(keyNames)('%s is a key of %s', async (name, slot) => {
  write({}, `# mine\nexport ${name}="secret"\nOTHER=1\n`);
  expect(await list()).toMatchObject({ active: slot, resolved: { key: slot, source: 'env' } });
});

it('config.json wins over .env, and what was chosen over what has a key', async () => {
  const openai = { apiKey: 'secret', apiBase: 'http://models.lan/v1' };
  write({ providers: { openai } }, 'OPENAI_API_KEY=secret-too\nANTHROPIC_API_KEY=secret\n');
  expect((await list()).active).toBe('anthropic');
  const agents = { defaults: { provider: 'openai', model: 'm' } };
  write({ providers: { openai }, agents }, 'OPENAI_API_KEY=secret-too\nANTHROPIC_API_KEY=secret\n');
  expect((await list()).resolved).toEqual({ key: 'openai', source: 'config' });
  expect(await active()).toEqual({
    provider: { key: 'openai', source: 'config', apiBase: 'http://models.lan/v1' },
    model: 'm',
  });
});

it('demo is built in, and active only when it was chosen', async () => {
  write({ agents: { defaults: { provider: 'demo' } } }, '');
  expect((await list()).resolved).toEqual({ key: 'demo', source: 'built-in' });
  expect(await active()).toEqual({
    provider: { key: 'demo', source: 'built-in', apiBase: null },
    model: 'demo',
  });
  expect(await answerOf('model.list')).toMatchObject({
    provider: 'demo',
    models: [{ id: 'demo' }],
  });
});

it('a secret that was written into an address is not shown', async () => {
  const vllm = { apiBase: 'http://joe:secret@models.lan/v1?key=secret' };
  write({ providers: { vllm } }, '');
  expect(await active()).toMatchObject({ provider: { apiBase: 'http://models.lan/v1' } });
  await list();
});

it('the process’s environment never counts', async () => {
  const before = { ...process.env };
  for (const name of Object.values(providerKeyNames).flat()) process.env[name] = 'secret';
  try {
    expect((await list()).resolved).toBeNull();
    expect(await answerOf('model.list')).toEqual({ provider: null, models: [] });
  } finally {
    process.env = before;
  }
});
