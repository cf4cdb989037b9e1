import { useWorld } from './support/world';

const world = useWorld({
  bots: ['writer'],
  limits: { modelListFailedMs: 1 },
  env: { ANTHROPIC_API_KEY: 'sk-of-the-process', OPENAI_API_KEY: 'sk-of-the-process' },
});
const list = (params?: object) => world.client.rpc('writer', 'model.list', params);
const ids = async (params?: object) => (await list(params)).models.map(({ id }) => id);

it('model.list: the list of the bot’s own provider, cached until it is asked for anew', async () => {
  const { models } = world;
  models.offer([{ id: 'small', name: 'Small', contextWindow: 4_096 }, { id: 'text-embedding' }]);
  const asked = models.listCalls.length;
  expect(await list()).toEqual({
    provider: 'vllm',
    models: [{ id: 'small', name: 'Small', description: '', contextWindow: 4_096, tags: [] }],
  });
  expect(await ids({ provider: 'vllm', forceRefresh: false })).toEqual(['small']);
  expect(models.listCalls).toHaveLength(asked + 1);
  models.offer([{ id: 'new' }]);
  expect(await ids({ forceRefresh: true })).toEqual(['new']);
  expect(await ids()).toEqual(['new']);
});

it('model.list: any slot with the key and address that the bot has for it', async () => {
  const { client, models } = world;
  models.offer([{ id: 'b' }, { id: 'a' }, { id: 'c' }]);
  for (const provider of ['anthropic', 'gemini', 'openrouter']) {
    const apiBase = provider === 'gemini' ? models.geminiBase : models.apiBase;
    const credential = { provider, apiBase, apiKey: `sk-${provider}` };
    await client.call('profiles.configure', { name: 'writer', credential });
    expect(await ids({ provider })).toEqual(['a', 'b', 'c']);
    expect(JSON.stringify(models.listCalls.at(-1)?.headers)).toContain(`sk-${provider}`);
  }
  expect(await list({ provider: 'demo' })).toMatchObject({
    provider: 'demo',
    models: [{ id: 'demo' }],
  });
  expect(await list({ provider: 'xai' })).toEqual({ provider: 'xai', models: [] });
});

it('model.list: an unknown slot is INVALID, other bad values are INVALID_PARAMS', async () => {
  const code = async (params: object) => {
    const call = { name: 'writer', method: 'model.list', params };
    return (await world.client.refusal('profiles.rpc', call)).code;
  };
  expect(await code({ provider: 'nobody' })).toBe('INVALID');
  expect(await code({ provider: 'toString' })).toBe('INVALID');
  expect(await code({ provider: 7 })).toBe('INVALID');
  expect(await code({ forceRefresh: 'yes' })).toBe('INVALID_PARAMS');
});

it('model.list: a list that cannot be got is empty, and counts for a moment only', async () => {
  const { models } = world;
  models.answerLists(() => ({ status: 401, body: { error: { message: 'bad key' } } }));
  expect(await list({ forceRefresh: true })).toEqual({ provider: 'vllm', models: [] });
  models.offer([{ id: 'there' }]);
  for (;;) if ((await ids()).length > 0) break;
  expect(await ids()).toEqual(['there']);
  models.answerLists(() => ({ status: 307, headers: { location: `${models.origin}/elsewhere` } }));
  expect(await ids({ forceRefresh: true })).toEqual([]);
  expect(models.listCalls.at(-1)?.path).toBe('/v1/models');
});

it('model.list: without any provider there is none, also with one in the environment', async () => {
  const { client } = world;
  await client.call('profiles.create', { name: 'blank', cloneFrom: null });
  expect(await client.rpc('blank', 'model.list')).toEqual({ provider: null, models: [] });
  expect(await client.rpc('blank', 'provider.active')).toEqual({ provider: null, model: null });
});
