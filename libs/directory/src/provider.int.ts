import { join } from 'node:path';
import { HomeFixture } from './home-fixture';
import { isReady, readProviders, readSlot } from './provider';

let fixture: HomeFixture;
beforeEach(() => {
  fixture = new HomeFixture();
});
afterEach(() => fixture.remove());

const resolved = () => readProviders(fixture.home).resolved;

it('is the chosen one, else the first slot that has a key, else none', () => {
  expect(readProviders(fixture.home)).toMatchObject({ chosen: null, model: null, resolved: null });
  fixture.write('config.json', {
    providers: { groq: { apiKey: 'g' }, openai: { apiKey: 'o', apiBase: 'http://x' } },
  });
  expect(resolved()).toEqual({
    slot: 'openai',
    source: 'config',
    apiKey: 'o',
    apiBase: 'http://x',
    model: null,
  });
  fixture.write('config.json', { agents: { defaults: { provider: 'groq', model: ' m ' } } });
  expect(resolved()).toEqual({ slot: 'groq', source: 'config', model: 'm' });
  expect(isReady(resolved())).toBe(false);
  fixture.write('.env', 'GROQ_API_KEY=from-env');
  expect(resolved()).toMatchObject({ slot: 'groq', source: 'env', apiKey: 'from-env' });
  expect(isReady(resolved())).toBe(true);
});

it('takes config.json over .env, and within .env the names in their order', () => {
  fixture.write(
    '.env',
    'GOOGLE_API_KEY=google\nZHIPUAI_API_KEY=third\nGEMINI_API_KEY=gemini\nZAI_API_KEY=first\n',
  );
  expect(resolved()).toMatchObject({ slot: 'gemini', apiKey: 'gemini', source: 'env' });
  fixture.write('config.json', { providers: { gemini: { apiKey: 'own', apiBase: null } } });
  expect(resolved()).toEqual({ slot: 'gemini', apiKey: 'own', source: 'config', model: null });
  fixture.write('config.json', { agents: { defaults: { provider: 'zhipu' } } });
  expect(resolved()).toMatchObject({ slot: 'zhipu', apiKey: 'first' });
});

it('reads one slot with its key and address, whether it is chosen or not', () => {
  fixture.write('.env', 'GROQ_API_KEY=from-env');
  fixture.write('config.json', {
    providers: { openai: { apiKey: 'o', apiBase: 'http://x' } },
    agents: { defaults: { provider: 'demo' } },
  });
  const slot = (name: 'openai' | 'groq' | 'xai' | 'demo') => readSlot(fixture.home, name);
  expect(slot('openai')).toEqual({
    slot: 'openai',
    source: 'config',
    apiKey: 'o',
    apiBase: 'http://x',
  });
  expect(slot('groq')).toEqual({ slot: 'groq', source: 'env', apiKey: 'from-env' });
  expect(slot('xai')).toEqual({ slot: 'xai', source: 'config' });
  expect(slot('demo')).toEqual({ slot: 'demo', source: 'built-in' });
});

it('never looks at the environment of the process', () => {
  process.env['ANTHROPIC_API_KEY'] = 'from-the-process';
  try {
    expect(resolved()).toBeNull();
  } finally {
    delete process.env['ANTHROPIC_API_KEY'];
  }
});

it('needs no key for demo, which is never chosen by itself, nor for a server of one’s own', () => {
  fixture.write('config.json', { agents: { defaults: { provider: 'demo' } } });
  expect(resolved()).toEqual({ slot: 'demo', source: 'built-in', model: null });
  expect(isReady(resolved())).toBe(true);
  fixture.write('config.json', { providers: { vllm: { apiBase: 'http://127.0.0.1:1/v1' } } });
  expect(resolved()).toEqual({
    slot: 'vllm',
    source: 'config',
    apiBase: 'http://127.0.0.1:1/v1',
    model: null,
  });
  expect(isReady(resolved())).toBe(true);
  expect(readProviders(fixture.home).slots.at(-2)).toEqual({
    slot: 'vllm',
    hasKey: true,
    apiBase: 'http://127.0.0.1:1/v1',
  });
});

it('says that a broken config.json is the reason, without a word of what is in it', () => {
  fixture.write('config.json', '{"providers": {"openai": {"apiKey": "sk-canary" oops');
  const error = failure(() => readProviders(fixture.home));
  expect(error).toMatchObject({ code: 'PROFILE_OPERATION_FAILED', retryable: false });
  expect(`${error} ${String(error instanceof Error && error.cause)}`).not.toContain('canary');
  fixture.write('config.json', { providers: 'none' });
  expect(() => readProviders(join(fixture.home))).toThrow(
    expect.objectContaining({ retryable: false }),
  );
});

function failure(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
}
