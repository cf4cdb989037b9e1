import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeBot } from './descriptor';
import { HomeFixture } from './home-fixture';
import { readProviders } from './provider';
import { loadSealKey } from './seal-key';

let fixture: HomeFixture;
beforeEach(() => {
  fixture = new HomeFixture();
});
afterEach(() => fixture.remove());

it('is made at first start with the bot default on the provider demo', () => {
  const { hostId } = fixture.prepare();
  expect(hostId).toMatch(/^[0-9a-f-]{36}$/);
  expect(describeBot(fixture.directory.require('default'), false)).toMatchObject({
    name: 'default',
    isDefault: true,
    hasConfig: true,
    displayName: 'Flowly',
    provider: 'demo',
    model: null,
    markSeed: null,
    credentialPolicy: 'primary',
    stoppedByUser: false,
  });
  for (const folder of ['workspace', 'media', 'logs', 'credentials', 'profiles']) {
    expect([folder, fixture.mode(folder)]).toEqual([folder, 0o700]);
  }
  for (const file of [
    'config.json',
    'profile.json',
    'profile-host.json',
    join('workspace', 'SOUL.md'),
  ]) {
    expect([file, fixture.mode(file)]).toEqual([file, 0o600]);
  }
});

it('stays as it is when it is there', () => {
  const first = fixture.prepare();
  fixture.write('config.json', { agents: { defaults: { provider: 'groq' } } });
  fixture.write(join('workspace', 'SOUL.md'), 'mine');
  const before = readdirSync(fixture.home);
  expect(fixture.prepare()).toEqual(first);
  expect(readdirSync(fixture.home)).toEqual(before);
  expect(readFileSync(join(fixture.home, 'workspace', 'SOUL.md'), 'utf8')).toBe('mine');
  expect(readProviders(fixture.home).chosen).toBe('groq');
});

it('chooses nothing over a key that is there already', () => {
  fixture.write('.env', 'OPENAI_API_KEY=sk-1\n');
  fixture.prepare();
  expect(readProviders(fixture.home).resolved).toMatchObject({ slot: 'openai', source: 'env' });
});

it('does not start over a broken identity', () => {
  fixture.prepare();
  fixture.write('profile-host.json', { version: 1 });
  expect(() => fixture.prepare()).toThrow('profile-host.json cannot be read.');
  fixture.write('profile.json', '{');
  expect(() => fixture.prepare()).toThrow('profile.json of the bot default cannot be read.');
});

it('keeps one private key for sealed credentials', () => {
  const key = loadSealKey(fixture.home);
  expect(key.privateKeyPem).toContain('BEGIN PRIVATE KEY');
  expect(Buffer.from(key.publicKey, 'base64url')).toHaveLength(32);
  expect(loadSealKey(fixture.home)).toEqual(key);
  expect(fixture.mode('seal-key.pem')).toBe(0o600);
});
