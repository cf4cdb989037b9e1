import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configureBotParamsSchema, parseParams, type ConfigureBotParams } from '@flowly/contract';
import { findOutcome, storeOutcome } from '@flowly/store';
import { configureBot } from './configure-bot';
import { describeBot, settingsOf } from './descriptor';
import { HomeFixture } from './home-fixture';
import { readProviders } from './provider';

let fixture: HomeFixture;
beforeEach(async () => {
  fixture = new HomeFixture();
  fixture.prepare();
  await fixture.create({ name: 'writer', cloneFrom: null });
});
afterEach(() => fixture.remove());

async function configure(
  changes: Omit<ConfigureBotParams, 'name'>,
  isBusy = false,
  commit: () => void = () => undefined,
) {
  const params = { name: 'writer', ...changes };
  return configureBot(
    await fixture.host(),
    fixture.home,
    params,
    { at: 5_000, isBusy: () => isBusy },
    commit,
  );
}
const stored = (file: string) => readFileSync(join(fixture.home, 'profiles/writer', file), 'utf8');
const resolved = () => readProviders(join(fixture.home, 'profiles/writer')).resolved;
const refused = (code: string) => expect.objectContaining({ code });

it('changes settings and commits with them', async () => {
  fixture.write('profiles/writer/config.json', { mine: 1, agents: { other: 2 } });
  const host = await fixture.host();
  const changes = {
    provider: 'groq',
    model: 'm',
    soul: 'Be kind.',
    displayName: 'W',
    markSeed: 9,
  } as const;
  const bot = await configure(changes, false, () => storeOutcome(host, 'c1', { result: {} }, 1));
  expect(settingsOf(bot)).toMatchObject({ provider: 'groq', model: 'm', soul: 'Be kind.' });
  expect(describeBot(bot, false)).toMatchObject({
    displayName: 'W',
    markSeed: 9,
    updatedAt: '1970-01-01T00:00:05.000Z',
  });
  expect(JSON.parse(stored('config.json'))).toEqual({
    mine: 1,
    agents: { other: 2, defaults: { provider: 'groq', model: 'm' } },
  });
  expect(findOutcome(host, 'c1')).toEqual({ result: {} });
  for (const file of ['config.json', 'profile.json', 'workspace/SOUL.md']) {
    expect(fixture.mode(`profiles/writer/${file}`)).toBe(0o600);
  }
  expect(settingsOf(await configure({ provider: '', model: '' }))).toMatchObject({
    provider: null,
    model: null,
  });
});

it('G217 refuses nothing to change and a wrong type', () => {
  const parse = (params: object) =>
    parseParams(configureBotParamsSchema, { name: 'writer', ...params });
  expect(() => parse({})).toThrow('There are no bot settings to change.');
  expect(() => parse({ markSeed: 3 })).toThrow(refused('INVALID_PARAMS'));
  expect(() => parse({ model: ['not', 'a', 'string'] })).toThrow(refused('INVALID_PARAMS'));
});

it('refuses to change what a running turn would feel, and nothing else', async () => {
  for (const changes of [{ provider: 'groq' as const }, { model: 'm' }, { soul: 's' }]) {
    await expect(configure(changes, true)).rejects.toEqual(refused('PROFILE_BUSY'));
  }
  await configure({ displayName: 'W', credential: { provider: 'groq', apiKey: 'k' } }, true);
  expect(resolved()).toMatchObject({ slot: 'groq', apiKey: 'k' });
});

it('stores a credential in config.json alone', async () => {
  await configure({
    credential: { provider: 'openai', apiKey: 'sk-canary', apiBase: 'http://a/v1' },
  });
  expect(resolved()).toMatchObject({ slot: 'openai', apiKey: 'sk-canary', apiBase: 'http://a/v1' });
  const bot = fixture.directory.require('writer');
  expect(JSON.stringify([describeBot(bot, false), settingsOf(bot)])).not.toContain('canary');
  expect(stored('profile.json')).not.toContain('canary');
  await configure({ credential: { provider: 'openai', apiKey: '' } });
  expect(resolved()).toBeNull();
});

it('takes a slot’s key away with its address, from both files', async () => {
  fixture.write('profiles/writer/.env', 'OPENAI_API_KEY=from-env\nGROQ_API_KEY=g\nOTHER=1\n');
  await configure({ credential: { provider: 'openai', apiKey: 'own', apiBase: 'http://a' } });
  await configure({ credential: { provider: 'openai', apiBase: 'http://a' } });
  expect(readProviders(join(fixture.home, 'profiles/writer')).resolved).toMatchObject({
    apiKey: 'own',
  });
  await configure({ provider: 'openai', credential: { provider: 'openai', apiBase: 'http://b' } });
  expect(resolved()).toEqual({
    slot: 'openai',
    source: 'config',
    apiBase: 'http://b',
    model: null,
  });
  expect(stored('.env')).toBe('GROQ_API_KEY=g\nOTHER=1\n');
  await configure({ credential: { provider: 'openai', apiKey: 'new', apiBase: '' } });
  expect(resolved()).toEqual({ slot: 'openai', source: 'config', apiKey: 'new', model: null });
});

it('refuses a credential that says nothing or is for demo, and an unknown bot', async () => {
  await expect(configure({ credential: { provider: 'groq' } })).rejects.toThrow(
    'There are no bot settings to change',
  );
  await expect(configure({ credential: { provider: 'demo', apiKey: 'k' } })).rejects.toEqual(
    refused('INVALID_PARAMS'),
  );
  const host = await fixture.host();
  const options = { at: 1, isBusy: () => false };
  await expect(
    configureBot(host, fixture.home, { name: 'nobody', model: 'm' }, options, () => undefined),
  ).rejects.toEqual(refused('PROFILE_NOT_FOUND'));
});

it('leaves a config.json that it cannot read as it is', async () => {
  fixture.write('profiles/writer/config.json', '{ broken');
  await expect(configure({ model: 'm' })).rejects.toEqual(refused('PROFILE_OPERATION_FAILED'));
  expect(stored('config.json')).toBe('{ broken');
});
