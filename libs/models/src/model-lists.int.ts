import { defaultLimits } from '@flowly/contract';
import { Gate, ScriptedModelServer } from '@flowly/testing';
import { listModels, windowOf, type ListTarget } from './model-lists';
import { testKey } from './test/request-to';

const limits = defaultLimits;
let server: ScriptedModelServer;
beforeEach(async () => {
  server = await ScriptedModelServer.start();
  server.offer([
    { id: 'beta', name: 'Beta', contextWindow: 8_000 },
    { id: 'alpha', description: 'The first.' },
    { id: 'text-embedding' },
    { id: 'gamma' },
    { id: 'alpha' },
  ]);
});
afterEach(() => server.close());

const target = (more: Partial<ListTarget> = {}): ListTarget => ({
  slot: 'vllm',
  apiKey: testKey,
  apiBase: server.apiBase,
  ...more,
});
const idsOf = async (whose: ListTarget, more: object = {}) =>
  (await listModels(whose, { limits, ...more })).models.map(({ id }) => id);
const faultOf = async (more: object = {}) => {
  const { models, fault } = await listModels(target(), { limits: { ...limits, ...more } });
  expect(models).toEqual([]);
  expect(fault).not.toContain(testKey);
  return fault;
};

it.each<[ListTarget['slot'], string, string, Record<string, string>]>([
  ['anthropic', '/v1/models', 'x-api-key', { limit: '1000', after_id: 'alpha' }],
  ['gemini', '/v1beta/models', 'x-goog-api-key', { pageSize: '1000', pageToken: '2' }],
])('gets every page of %s', async (slot, path, header, second) => {
  const apiBase = slot === 'gemini' ? server.geminiBase : server.apiBase;
  server.offer([{ id: 'beta' }, { id: 'alpha' }, { id: 'gamma' }, { id: 'delta' }, { id: 'eta' }]);
  expect(await idsOf(target({ slot, apiBase }))).toEqual([
    'alpha',
    'beta',
    'delta',
    'eta',
    'gamma',
  ]);
  expect(server.listCalls).toHaveLength(3);
  expect(server.listCalls[1]).toMatchObject({
    path,
    query: second,
    headers: { [header]: testKey },
  });
});

it.each(['openai', 'openrouter', 'groq', 'xai', 'zhipu', 'vllm'] as const)(
  'gets the list of %s: what can chat, each once, by id',
  async (slot) => {
    expect(await idsOf(target({ slot }))).toEqual(['alpha', 'beta', 'gamma']);
    expect(server.listCalls).toMatchObject([
      { path: '/v1/models', query: {}, headers: { authorization: `Bearer ${testKey}` } },
    ]);
  },
);

it('sends no key to a server that has none, and asks nobody who needs one and has none', async () => {
  const { apiKey: _none, ...keyless } = target();
  expect(await idsOf(keyless)).toHaveLength(3);
  expect(server.listCalls[0]?.headers).not.toHaveProperty('authorization');
  const list = await listModels({ ...keyless, slot: 'openai' }, { limits });
  expect(list).toEqual({ models: [], fault: 'it has no key or address' });
  expect(server.listCalls).toHaveLength(1);
});

it('has the demo model without asking anybody', async () => {
  const { models } = await listModels({ slot: 'demo' }, { limits });
  expect(models).toMatchObject([{ id: 'demo', name: 'Demo', tags: ['offline'] }]);
});

it('asks once while a list counts, again by force, and by key and address', async () => {
  await idsOf(target());
  await idsOf(target());
  expect(server.listCalls).toHaveLength(1);
  server.offer([{ id: 'newer' }]);
  expect(await idsOf(target(), { forceRefresh: true })).toEqual(['newer']);
  expect(await idsOf(target())).toEqual(['newer']);
  expect(server.listCalls).toHaveLength(2);
  await idsOf(target({ apiKey: `${testKey}-other` }));
  await idsOf(target({ slot: 'openai' }));
  expect(server.listCalls).toHaveLength(4);
});

it('a list that is too old is got anew', async () => {
  const brief = { limits: { ...limits, modelListMs: 1 } };
  await idsOf(target(), brief);
  const got = Date.now();
  while (Date.now() <= got + 1) await new Promise(setImmediate);
  await idsOf(target(), brief);
  expect(server.listCalls).toHaveLength(2);
});

it('calls at once share one fetch, also by force', async () => {
  const gate = new Gate();
  server.answerLists(() => ({ gate: gate.opened, body: { data: [{ id: 'm' }] } }));
  const calls = [idsOf(target()), idsOf(target()), idsOf(target(), { forceRefresh: true })];
  gate.open();
  expect(await Promise.all(calls)).toEqual([['m'], ['m'], ['m']]);
  expect(server.listCalls).toHaveLength(1);
});

describe('a list that cannot be got is empty:', () => {
  it.each([401, 404, 429, 500])('status %d, with the key quoted', async (status) => {
    server.answerLists(() => ({ status, body: { error: { message: `wrong key ${testKey}` } } }));
    expect(await faultOf()).toBe(`the answer has the status ${status}`);
  });

  it.each<[string, unknown, string]>([
    ['no JSON', `<html>${testKey}`, 'the answer is no JSON'],
    ['no list', { data: { id: testKey } }, 'it is no list of models'],
    ['null', 'null', 'it is no list of models'],
  ])('%s', async (_, body, fault) => {
    server.answerLists(() => ({ body }));
    expect(await faultOf()).toBe(fault);
  });

  it('larger than it may be, all pages together', async () => {
    server.answerLists(() => ({ body: { data: [{ id: 'x'.repeat(2_000) }] } }));
    expect(await faultOf({ modelListBytes: 1_000 })).toBe('the answer is too large');
    const page = { data: [{ id: 'x'.repeat(400) }], has_more: true, last_id: 'x' };
    server.answerLists(() => ({ body: page }));
    const bounds = { limits: { ...limits, modelListBytes: 1_000 } };
    const { fault } = await listModels(target({ slot: 'anthropic' }), bounds);
    expect(fault).toBe('the answer is too large');
  });

  it('slower than it may be', async () => {
    server.answerLists(() => ({ gate: new Gate().opened }));
    expect(await faultOf({ modelListFetchMs: 50 })).toBe('it took too long');
  });

  it('nobody there', async () => {
    const gone = target();
    await server.close();
    expect(await listModels(gone, { limits })).toMatchObject({
      fault: 'the server cannot be reached',
    });
    server = await ScriptedModelServer.start();
  });

  it('elsewhere: no redirect is followed, which could carry the key to another host', async () => {
    const elsewhere = await ScriptedModelServer.start();
    elsewhere.offer([{ id: 'm' }]);
    const location = `${elsewhere.apiBase}/models`;
    server.answerLists(() => ({ status: 307, headers: { location } }));
    expect(await faultOf()).toBe('the answer has the status 307');
    expect(elsewhere.listCalls).toEqual([]);
    await elsewhere.close();
  });

  it('longer than a call has room for arguments: its beginning counts', async () => {
    const many = Array.from({ length: 200_000 }, (_, index) => ({ id: `m${index}` }));
    server.answerLists(() => ({ body: { data: many } }));
    const { models, fault } = await listModels(target(), { limits });
    expect(fault).toBeNull();
    expect(models).toHaveLength(20_000);
  });

  it('endless: pages are counted', async () => {
    const page = { data: [{ id: 'm' }], has_more: true, last_id: 'm' };
    server.answerLists(() => ({ body: page }));
    expect(await idsOf(target({ slot: 'anthropic' }))).toEqual(['m']);
    expect(server.listCalls).toHaveLength(20);
  });
});

it('a failure does not count for long and takes no known window away', async () => {
  const model = { ...target(), model: 'beta' };
  expect(windowOf(model)).toBeUndefined();
  await idsOf(target());
  expect(windowOf(model)).toBe(8_000);
  expect(windowOf({ ...model, model: 'gamma' })).toBeUndefined();
  expect(windowOf({ ...model, apiKey: 'another' })).toBeUndefined();
  server.answerLists(() => ({ status: 500 }));
  const failing = { forceRefresh: true, limits: { ...limits, modelListFailedMs: 1 } };
  expect(await idsOf(target(), failing)).toEqual([]);
  expect(windowOf(model)).toBe(8_000);
  const failed = Date.now();
  while (Date.now() <= failed + 1) await new Promise(setImmediate);
  server.offer([{ id: 'beta', contextWindow: 9_000 }]);
  expect(await idsOf(target())).toEqual(['beta']);
  expect(windowOf(model)).toBe(9_000);
});

it('takes nothing from the environment of the process', async () => {
  const trap = await ScriptedModelServer.start();
  const before = { ...process.env };
  for (const name of ['OPENAI', 'VLLM', 'OPENAI_COMPATIBLE']) {
    process.env[`${name}_API_KEY`] = 'key-of-the-environment';
    process.env[`${name}_BASE_URL`] = trap.apiBase;
  }
  process.env['HTTP_PROXY'] = process.env['http_proxy'] = trap.origin;
  const { apiKey: _none, ...keyless } = target();
  expect(await idsOf(keyless)).toHaveLength(3);
  process.env = before;
  expect(JSON.stringify(server.listCalls)).not.toContain('key-of-the-environment');
  expect(trap.listCalls).toEqual([]);
  await trap.close();
});
