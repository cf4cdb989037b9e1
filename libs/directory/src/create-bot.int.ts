import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createBotParamsSchema, parseParams } from '@flowly/contract';
import {
  addToOutbox,
  allowProgram,
  defaultExecPolicy,
  findOutcome,
  oldestOutboxRows,
  openBotStore,
  readExecAllowlist,
  readExecPolicy,
  saveExecPolicy,
  storeOutcome,
} from '@flowly/store';
import { describeBot, readinessOf, settingsOf } from './descriptor';
import { HomeFixture } from './home-fixture';

let fixture: HomeFixture;
beforeEach(() => {
  fixture = new HomeFixture();
  fixture.prepare();
});
afterEach(() => fixture.remove());

const names = () => fixture.directory.list().map((bot) => bot.name);
const refused = (code: string) => expect.objectContaining({ code });
const BOT_ID = '3d9e6f5e-6f0f-4b7e-9b1e-0d4c2f1a7b11';

it('makes a whole private folder and commits outcome and outbox with it', async () => {
  const host = await fixture.host();
  const params = {
    name: 'writer',
    displayName: 'Writer',
    provider: 'groq',
    model: 'm',
    soul: 'Write.',
    markText: 'W',
  } as const;
  const bot = await fixture.create(params, { botId: BOT_ID }, (made) => {
    storeOutcome(host, 'c1', { result: describeBot(made, false) }, 1);
    addToOutbox(host, 'events', 'directory', { name: made.name });
  });
  expect(findOutcome(host, 'c1')).toEqual({ result: describeBot(bot, false) });
  expect(oldestOutboxRows(host, 10)).toHaveLength(1);
  expect(describeBot(bot, false)).toEqual({
    name: 'writer',
    isDefault: false,
    hasConfig: true,
    displayName: 'Writer',
    description: '',
    provider: 'groq',
    model: 'm',
    markText: 'W',
    markTone: '',
    markSeed: 0,
    markShape: '',
    createdAt: '1970-01-01T00:00:01.000Z',
    updatedAt: '1970-01-01T00:00:01.000Z',
    botId: BOT_ID,
    credentialPolicy: 'isolated',
    stoppedByUser: false,
  });
  expect(settingsOf(bot)).toEqual({
    name: 'writer',
    provider: 'groq',
    model: 'm',
    soul: 'Write.',
    credentialPolicy: 'isolated',
  });
  const entries = readdirSync(bot.folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name).slice(fixture.home.length);
    expect([path, fixture.mode(path)]).toEqual([path, entry.isDirectory() ? 0o700 : 0o600]);
  }
  expect(fixture.mode('profiles/writer')).toBe(0o700);
  expect(entries.map((entry) => entry.name).sort()).toEqual(
    [
      'SOUL.md',
      'bot.sqlite3',
      'config.json',
      'credentials',
      'logs',
      'media',
      'profile.json',
      'workspace',
    ].sort(),
  );
});

it('clones default when no source is named, nothing when it is null, another when it is named', async () => {
  fixture.write('config.json', {
    agents: { defaults: { provider: 'demo', model: 'd' } },
    other: { kept: true },
  });
  fixture.write('workspace/personas/pirate/voice.md', 'arr');
  const cloned = await fixture.create({ name: 'cloned' });
  expect(settingsOf(cloned)).toMatchObject({
    provider: 'demo',
    model: 'd',
    soul: expect.stringContaining('helpful'),
  });
  expect(JSON.parse(readFileSync(join(cloned.folder, 'config.json'), 'utf8'))).toMatchObject({
    other: { kept: true },
  });
  expect(readFileSync(join(cloned.folder, 'workspace/personas/pirate/voice.md'), 'utf8')).toBe(
    'arr',
  );
  const empty = await fixture.create({ name: 'empty', cloneFrom: null });
  expect(settingsOf(empty)).toMatchObject({ provider: null, model: null, soul: '' });
  expect(readinessOf(empty)).toMatchObject({
    runnable: false,
    authStatus: 'missing',
    missingCapabilities: ['provider'],
  });
  const second = await fixture.create({
    name: 'second',
    cloneFrom: 'cloned',
    provider: '',
    model: '',
  });
  expect(settingsOf(second)).toMatchObject({ provider: null, model: null });
  expect(readinessOf(cloned)).toMatchObject({
    runnable: true,
    authStatus: 'ready',
    missingCapabilities: [],
  });
});

it('never carries into a clone what belongs to its source', async () => {
  const canary = 'CANARY';
  fixture.write('config.json', {
    providers: { groq: { apiKey: 'carried-key' } },
    channels: { telegram: { token: canary } },
    gateway: { token: canary, port: 1, relay: { identity: canary } },
    relay: { identity: canary },
    mcp: { servers: { files: { env: { TOKEN: canary } } }, timeout: 3 },
  });
  fixture.write('.env', `OPENAI_API_KEY=carried-env\nTELEGRAM_TOKEN=${canary}\n# ${canary}\n`);
  const foreign = ['credentials/x.json', 'media/x.png', 'logs/x.log', 'bot.sqlite3-old', 'jobs.json', 'audit.log',
    'workspace/notes.md', 'workspace/memory/MEMORY.md', 'sessions/a.jsonl', 'seal-key.pem']; // prettier-ignore
  for (const file of foreign) fixture.write(file, canary);
  symlinkSync(join(fixture.home, 'seal-key.pem'), join(fixture.home, 'workspace/TOOLS.md'));
  mkdirSync(join(fixture.home, 'workspace/personas'));
  symlinkSync(join(fixture.home, 'credentials'), join(fixture.home, 'workspace/personas/link'));
  symlinkSync(join(fixture.home, 'seal-key.pem'), join(fixture.home, 'workspace/personas/key.md'));
  const { folder } = await fixture.create({ name: 'writer' });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  );
  const everything = files
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
  expect(everything).not.toContain(canary);
  expect(everything).toContain('carried-key');
  expect(everything).toContain('carried-env');
  expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))).toMatchObject({
    gateway: { port: 1 },
    mcp: { timeout: 3 },
  });
});

it('a clone decides about commands by the defaults, whatever its source does', async () => {
  const database = await openBotStore({ folder: fixture.home, botId: BOT_ID, busyMs: 1_000 });
  await database.write(() => {
    saveExecPolicy(database, { security: 'full', ask: 'off' });
    allowProgram(database, { pattern: '/bin/x', command: 'x' }, 1);
  });
  database.close();
  const { folder, botId } = await fixture.create({ name: 'writer' });
  const cloned = await openBotStore({ folder, botId, busyMs: 1_000 });
  expect(readExecPolicy(cloned)).toEqual(defaultExecPolicy);
  expect(readExecAllowlist(cloned)).toEqual([]);
  cloned.close();
});

it('G219 refuses another credential policy, and a bad or taken name, and makes nothing', async () => {
  await expect(fixture.create({ name: 'shared-auth', credentialPolicy: 'shared' })).rejects.toEqual(
    refused('CREDENTIAL_POLICY_UNSUPPORTED'),
  );
  for (const name of ['default', 'flowly', 'root', 'test', 'tmp', 'sudo']) {
    await expect(fixture.create({ name })).rejects.toEqual(refused('INVALID_PARAMS'));
  }
  await fixture.create({ name: 'writer' });
  await expect(fixture.create({ name: 'writer' })).rejects.toEqual(
    refused('PROFILE_ALREADY_EXISTS'),
  );
  await expect(fixture.create({ name: 'second', cloneFrom: 'nobody' })).rejects.toEqual(
    refused('PROFILE_NOT_FOUND'),
  );
  expect(names()).toEqual(['default', 'writer']);
  expect(readdirSync(join(fixture.home, 'profiles'))).toEqual(['writer']);
});

it('G217 refuses params of a wrong type', () => {
  expect(() => parseParams(createBotParamsSchema, { name: 123 })).toThrow(
    refused('INVALID_PARAMS'),
  );
});

it('keeps the limit and says what to do', async () => {
  await fixture.create({ name: 'a' }, { limit: 2 });
  await fixture.create({ name: 'b' }, { limit: 2 });
  await expect(fixture.create({ name: 'c' }, { limit: 2 })).rejects.toEqual(
    refused('PROFILE_LIMIT'),
  );
  await expect(fixture.create({ name: 'c' }, { limit: 2 })).rejects.toThrow(/2 bots.*Delete one/);
});

it('gives out seeds as highest + 1 and honours a given one', async () => {
  const seeds = [];
  for (const markSeed of [undefined, 40, undefined, 1_000_000, undefined]) {
    seeds.push((await fixture.create({ name: `bot-${seeds.length}`, markSeed })).profile.markSeed);
  }
  expect(seeds).toEqual([0, 40, 41, 1_000_000, 1]);
});

it('recognises the bot of a command that died between rename and commit', async () => {
  const commit = jest.fn();
  await fixture.create({ name: 'writer' }, { botId: BOT_ID });
  await fixture.create({ name: 'writer' }, { botId: BOT_ID }, commit);
  expect(commit).toHaveBeenCalledWith(expect.objectContaining({ botId: BOT_ID }));
  expect(names()).toEqual(['default', 'writer']);
});

it('takes the bot back when its outcome cannot be stored', async () => {
  const failing = () => {
    throw new Error('no room');
  };
  await expect(fixture.create({ name: 'writer' }, {}, failing)).rejects.toEqual(
    refused('PROFILE_OPERATION_FAILED'),
  );
  expect(readdirSync(join(fixture.home, 'profiles'))).toEqual([]);
  await fixture.create({ name: 'writer' }, { botId: BOT_ID });
  await expect(fixture.create({ name: 'writer' }, { botId: BOT_ID }, failing)).rejects.toThrow();
  expect(names()).toEqual(['default', 'writer']);
});

it('removes what a dead process left half-made, and sees no bot in it', async () => {
  fixture.write('profiles/.new-dead/profile.json', { botId: BOT_ID });
  expect(names()).toEqual(['default']);
  await fixture.create({ name: 'writer' });
  expect(existsSync(join(fixture.home, 'profiles/.new-dead'))).toBe(false);
});

it('sees no bot in links, bad names and folders without an identity', async () => {
  await fixture.create({ name: 'writer' });
  symlinkSync(join(fixture.home, 'profiles/writer'), join(fixture.home, 'profiles/linked'));
  for (const name of ['Bad', 'tmp', 'default', 'a b'])
    fixture.write(`profiles/${name}/profile.json`, { botId: BOT_ID });
  fixture.write('profiles/broken/profile.json', '{');
  fixture.write('profiles/file', 'x');
  mkdirSync(join(fixture.home, 'profiles/bare'));
  expect(names()).toEqual(['default', 'writer']);
  expect(() => fixture.directory.require('linked')).toThrow(refused('PROFILE_NOT_FOUND'));
  await expect(fixture.create({ name: 'bare' })).rejects.toEqual(refused('PROFILE_ALREADY_EXISTS'));
});

it('shows a bot whose config.json is broken, without a provider', async () => {
  const bot = await fixture.create({ name: 'writer' });
  fixture.write('profiles/writer/config.json', '{');
  expect(describeBot(bot, false)).toMatchObject({ name: 'writer', provider: null, model: null });
  expect(readinessOf(bot).runnable).toBe(false);
});
