import { calcPrice } from '@pydantic/genai-prices';
import { Catalogue } from './catalogue';

const catalogue = new Catalogue();
const listed = (model: string, providerId: string) =>
  calcPrice({}, model, { providerId })?.model_price;

it.each([
  ['gpt-5.4-mini', 'openai'],
  ['claude-sonnet-4-6', 'anthropic'],
  ['gemini-2.5-flash', 'google'],
  ['grok-4', 'x-ai'],
  ['llama-3.3-70b-versatile', 'groq'],
])('%s has the price of %s', (model, provider) => {
  const { input_mtok, output_mtok, cache_read_mtok } = listed(model, provider) ?? {};
  expect(catalogue.priceOf(model)).toEqual({
    input: input_mtok,
    output: output_mtok,
    ...(cache_read_mtok !== undefined && { cacheRead: cache_read_mtok }),
  });
  expect(input_mtok).toBeGreaterThan(0);
});

it('a name of OpenRouter has the price of OpenRouter’s own list, not that of who else serves it', () => {
  const model = 'openai/gpt-oss-120b';
  expect(catalogue.priceOf(model)).toMatchObject({
    input: listed(model, 'openrouter')?.['input_mtok'],
  });
  expect(listed(model, 'groq')?.['input_mtok']).not.toBe(
    listed(model, 'openrouter')?.['input_mtok'],
  );
});

it('a name with a maker that only Groq lists has Groq’s price', () => {
  const model = 'moonshotai/kimi-k2-instruct';
  expect(listed(model, 'openrouter')).toBeUndefined();
  expect(catalogue.priceOf(model)?.input).toBe(listed(model, 'groq')?.['input_mtok']);
});

it('OpenRouter’s free models cost nothing', () => {
  expect(catalogue.priceOf('deepseek/deepseek-r1:free')).toEqual({ input: 0, output: 0 });
});

it.each(['demo', 'm/one', '', '__proto__', 'Qwen/Qwen3-32B', 'openrouter/auto', 'x'.repeat(256)])(
  '%j has no price',
  (model) => expect(catalogue.priceOf(model)).toBeUndefined(),
);

it('a price that grows with the prompt is that of the shortest', () => {
  expect(listed('gemini-2.5-pro', 'google')?.['input_mtok']).toMatchObject({
    base: 1.25,
    tiers: [{ price: 2.5 }],
  });
  expect(catalogue.priceOf('gemini-2.5-pro')).toMatchObject({ input: 1.25, output: 10 });
});

it('a price that changes with the hour is the same all day', () => {
  const midnight = Date.UTC(2026, 5, 1);
  const prices = [0, 2, 7, 12, 23].map(
    (hour) => new Catalogue(() => midnight + hour * 3_600_000).priceOf('deepseek-chat')?.input,
  );
  expect(new Set(prices).size).toBe(1);
  expect(prices[0]).toBeGreaterThan(0);
});
