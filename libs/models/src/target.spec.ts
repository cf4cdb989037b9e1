import fc from 'fast-check';
import { ModelFailure } from './failure';
import { providerSlots } from '@flowly/contract';
import { providers } from './providers';
import type { ModelTarget } from './request';
import { dialectOf, sdkModel } from './sdk-model';
import { baseOf, checkTarget, shownBase } from './target';

function refusal(target: ModelTarget): string {
  try {
    checkTarget(target);
  } catch (error) {
    expect(error).toBeInstanceOf(ModelFailure);
    expect(error).toMatchObject({ code: 'MODEL_PROVIDER_UNAVAILABLE', retryable: false });
    return error instanceof Error ? error.message : '';
  }
  return '';
}

it.each(providerSlots.filter((slot) => providers[slot].needsKey))(
  'names %s and where its missing key goes',
  (slot) => {
    const { name, envKeys } = providers[slot];
    const message = refusal({ slot, model: 'm' });
    expect(message).toContain(`${name} has no key`);
    expect(message).toContain(`\`providers.${slot}.apiKey\``);
    for (const key of envKeys) expect(message).toContain(key);
    expect(message).not.toMatch(/(^|\s)\//);
  },
);

it('says in full where the key of Gemini goes', () => {
  expect(refusal({ slot: 'gemini', model: 'm' })).toBe(
    "Gemini has no key. Put it into `providers.gemini.apiKey` in the bot's config.json, " +
      'or as `GEMINI_API_KEY` or `GOOGLE_API_KEY` into its .env.',
  );
});

it('asks a compatible server without a key at its default address', () => {
  expect(refusal({ slot: 'vllm', model: 'm' })).toBe('');
  expect(baseOf({ slot: 'vllm' })).toBe('http://127.0.0.1:8000/v1');
});

it('needs a model', () => {
  expect(refusal({ slot: 'vllm', model: ' ' })).toContain('`agents.defaults.model`');
});

it.each([
  'nonsense',
  'ftp://host/v1',
  'file:///etc',
  'http://a:b@host/v1',
  'http://host/v1?key=x',
  '',
])('refuses the address %p without repeating it', (apiBase) => {
  const message = refusal({ slot: 'vllm', model: 'm', apiBase });
  expect(message).toContain('`providers.vllm.apiBase`');
  if (apiBase !== '') expect(message).not.toContain(apiBase);
});

it('never repeats a key it refuses', () => {
  const badKey = fc
    .string({ minLength: 8, unit: 'binary' })
    .filter((key) => !/^[\x21-\x7e]+$/.test(key));
  fc.assert(
    fc.property(badKey, (apiKey) => {
      const message = refusal({ slot: 'openai', model: 'm', apiKey });
      expect(message).toContain('The key of OpenAI has characters');
      expect(message).not.toContain(apiKey);
    }),
  );
});

it('asks OpenAI through Responses, and another address in its slot through chat completions', () => {
  expect(dialectOf({ slot: 'openai', model: 'm' })).toBe('responses');
  expect(dialectOf({ slot: 'openai', model: 'm', apiBase: 'https://api.openai.com/v1/' })).toBe(
    'responses',
  );
  expect(dialectOf({ slot: 'openai', model: 'm', apiBase: 'http://proxy/v1' })).toBe('compatible');
  expect(dialectOf({ slot: 'groq', model: 'm' })).toBe('compatible');
  expect(dialectOf({ slot: 'anthropic', model: 'm', apiBase: 'http://proxy' })).toBe('anthropic');
});

it('makes a model once for one target, and another for another key', () => {
  const target: ModelTarget = { slot: 'groq', model: 'm', apiKey: 'one-key' };
  const model = sdkModel('compatible', target);
  expect(sdkModel('compatible', { ...target })).toBe(model);
  expect(sdkModel('compatible', { ...target, apiKey: 'other-key' })).not.toBe(model);
});

it.each<[string | null, string | null]>([
  [null, 'http://127.0.0.1:8000/v1'],
  ['', 'http://127.0.0.1:8000/v1'],
  ['http://models.lan/v1/', 'http://models.lan/v1/'],
  ['https://joe:hunter2@models.lan/v1', 'https://models.lan/v1'],
  ['https://models.lan/v1?key=hunter2#x', 'https://models.lan/v1'],
  ['hunter2', null],
])('shows the address %p as %p', (apiBase, shown) => {
  expect(shownBase('vllm', apiBase)).toBe(shown);
});
