import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { makeGroup, sendTo, settled, type Client, type ListAnswer } from '@flowly/testing';
import { Conversation } from './support/conversation';
import { everythingIn } from './support/redis-dump';
import { RedisMonitor } from './support/redis-monitor';
import { useWorld } from './support/world';

/** What must be found in the bots' files alone; one for each way a key can come. */
const KEY = `sk-canary-${randomUUID()}`;
const ENV_KEY = `sk-canary-env-${randomUUID()}`;
const REFUSED_KEY = `sk-canary-refused-${randomUUID()}`;
const world = useWorld({
  bots: ['writer'],
  env: { LOG_LEVEL: 'trace', FLOWLY_TRUSTED_PROXIES: '127.0.0.1' },
  limits: { modelRetries: 1, modelRetryDelayMs: 10, modelFirstByteMs: 500, modelListFetchMs: 300 },
});

it('a key is in config.json and nowhere else: no answer, event, log, Redis value or other file', async () => {
  const { models, system, client } = world;
  const watcher = await world.connect();
  await watcher.call('profiles.list');
  await watcher.call('profiles.rooms.list');
  const redis = new Redis(system.redis.url);
  const monitor = await RedisMonitor.start(system.redis);

  await takeKeys(client);
  const stranger = await refuseKeys(client);
  await listModels(client);
  await failInTurns(client);
  const dump = await everythingIn(redis);
  monitor.stop();
  redis.disconnect();

  const used = models.callsOf('writer').map(({ headers }) => headers.authorization);
  expect(used.every((header) => header?.includes(KEY))).toBe(true);
  expect(JSON.stringify(models.listCalls)).toContain(KEY);
  expect(JSON.stringify(models.listCalls)).toContain(ENV_KEY);
  expect(monitor.commands.length).toBeGreaterThan(20);
  for (const key of [KEY, ENV_KEY, REFUSED_KEY]) {
    expect(monitor.commands.filter((command) => command.includes(key))).toEqual([]);
    expect(dump.filter((value) => value.includes(key))).toEqual([]);
    for (const { frames } of [client, watcher, stranger])
      expect(JSON.stringify(frames)).not.toContain(key);
    expect(system.stdout).not.toContain(key);
  }
  expect(holdersOf(KEY)).toEqual(['profiles/twin/config.json', 'profiles/writer/config.json']);
  expect(holdersOf(ENV_KEY)).toEqual(['profiles/twin/.env', 'profiles/writer/.env']);
  expect(holdersOf(REFUSED_KEY)).toEqual([]);
});

it('another address without a key leaves that slot’s key in no file of the bot', async () => {
  const { client } = world;
  const move = (provider: string) =>
    client.call('profiles.configure', {
      name: 'writer',
      credential: { provider, apiBase: 'https://elsewhere.example/v1' },
    });
  for (const provider of ['vllm', 'openai', 'gemini', 'anthropic']) await move(provider);
  expect(holdersOf(KEY)).toEqual(['profiles/twin/config.json']);
  expect(holdersOf(ENV_KEY)).toEqual(['profiles/twin/.env', 'profiles/writer/.env']);
  await move('groq');
  expect(holdersOf(ENV_KEY)).toEqual(['profiles/twin/.env']);
  const { providers } = await client.rpc('writer', 'provider.list');
  expect(providers.find(({ key }) => key === 'groq')).toMatchObject({ hasKey: false });
});

const configure = (client: Client, credential: unknown, more: object = {}) =>
  client.call('profiles.configure', { name: 'writer', credential, ...more });

/** Every slot gets the key; one of them by the bot's `.env`. A clone takes them along. */
async function takeKeys(client: Client): Promise<void> {
  const { apiBase, geminiBase } = world.models;
  await configure(client, { provider: 'vllm', apiBase, apiKey: KEY });
  for (const provider of ['openai', 'anthropic'])
    await configure(client, { provider, apiBase, apiKey: KEY });
  await configure(client, { provider: 'gemini', apiBase: geminiBase, apiKey: KEY });
  await configure(client, { provider: 'groq', apiBase });
  appendFileSync(path.join(world.system.home, 'profiles/writer/.env'), `GROQ_API_KEY=${ENV_KEY}\n`);
  await client.call('profiles.list');
  await client.call('profiles.settings', { name: 'writer' });
  await client.rpc('writer', 'provider.list');
  await client.rpc('writer', 'provider.active');
  await client.call('profiles.create', { name: 'twin', cloneFrom: 'writer' });
}

/** Credentials of every wrong shape, for nobody, and over a line that others can read. */
async function refuseKeys(client: Client): Promise<Client> {
  const apiKey = REFUSED_KEY;
  const shapes: unknown[] = [
    ...[
      apiKey,
      [apiKey],
      { apiKey },
      { provider: apiKey, apiKey },
      { provider: 'unknown', apiKey },
    ],
    ...[[apiKey], { key: apiKey }, `${apiKey}\n`, apiKey.padEnd(5_000, 'x')].map((bad) => ({
      provider: 'vllm',
      apiKey: bad,
    })),
    ...[`http://host/v1?key=${apiKey}`, `http://joe:${apiKey}@host/v1`, apiKey, [apiKey]].map(
      (apiBase) => ({ provider: 'vllm', apiBase }),
    ),
    { provider: 'vllm', token: apiKey },
    { provider: 'demo', apiKey },
  ];
  const code = async (params: object, by = client) =>
    (await by.refusal('profiles.configure', { name: 'writer', ...params })).code;
  for (const credential of shapes)
    expect([credential, await code({ credential })]).toEqual([credential, 'INVALID_PARAMS']);
  const good = { provider: 'vllm', apiKey };
  expect(await code({ credential: good, model: 7 })).toBe('INVALID_PARAMS');
  expect(await code({ credential: good, name: 'nobody' })).toBe('PROFILE_NOT_FOUND');
  const forwarded = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
  const stranger = await world.connect({ headers: forwarded });
  expect(await code({ credential: good }, stranger)).toBe('SECURE_TRANSPORT_REQUIRED');
  await client.call('profiles.create', {
    name: 'other',
    cloneFrom: null,
    credential: good,
    apiKey,
  });
  await client.refusal('profiles.rpc', { name: 'writer', method: 'config.set', params: good });
  await client.refusal('credential.set', good);
  return stranger;
}

/** Lists that fail in every way, and quote the key. */
async function listModels(client: Client): Promise<void> {
  const { models } = world;
  const elsewhere = `${models.origin}/elsewhere?key=${KEY}`;
  const quoting = `Incorrect API key provided: ${KEY} ${ENV_KEY}`;
  const answers: ListAnswer[] = [
    { status: 401, body: { error: { message: quoting } } },
    { status: 500, body: quoting },
    { status: 302, headers: { location: elsewhere }, body: quoting },
    { body: quoting },
    { body: { data: quoting } },
    { gate: new Promise(() => undefined) },
  ];
  for (const answer of answers) {
    models.answerLists(() => answer);
    const slots = ['vllm', 'openai', 'anthropic', 'gemini', 'groq'];
    const lists = slots.map((provider) =>
      client.rpc('writer', 'model.list', { provider, forceRefresh: true }),
    );
    for (const { models: listed } of await Promise.all(lists)) expect(listed).toEqual([]);
  }
  models.offer([{ id: 'writer' }]);
  const { models: listed } = await client.rpc('writer', 'model.list', { forceRefresh: true });
  expect(listed).toHaveLength(1);
}

/** Turns that fail in every way, of the bot and of a group. */
async function failInTurns(client: Client): Promise<void> {
  const quoting = JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } });
  world.models.script('writer', [
    'Fine',
    { fault: { kind: 'status', status: 401, body: quoting } },
    { text: 'a b', fault: { kind: 'error-event', message: `bad key ${KEY}`, after: 1 } },
    { fault: { kind: 'reset', after: 0 } },
  ]);
  const chat = new Conversation(client, 'ios:canary', 'rpc', 'writer');
  for (let count = 0; count < 3; count++) {
    const { runId } = await chat.send('Hello');
    await chat.terminal(runId);
  }
  const { id } = await makeGroup(client, ['default', 'writer']);
  await sendTo(client, id, 'Hello');
  await settled(client, id);
}

/** Every file of the data folder that holds the key, SQLite's and their logs too. */
function holdersOf(key: string): string[] {
  const { home } = world.system;
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(key))
    .map((file) => path.relative(home, file))
    .sort();
}
