import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Prices } from './prices';

const DAY_MS = 24 * 3_600_000;
const FROM = Date.UTC(2030, 0, 10);

let answer: (at: string) => string | null;
const server = createServer((request, response) => {
  const body = answer(request.url ?? '');
  if (body === null) return; // never answers
  response.writeHead(request.url === '/refused' ? 503 : 200).end(body);
});
let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

let home: string;
let problems: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flowly-prices-'));
  problems = [];
});
afterEach(() => {
  rmSync(home, { recursive: true });
  expect(problems).toEqual([]);
});

const going = () => new AbortController().signal;
const pricesAt = (now: () => number) =>
  new Prices({ home, now, onBroken: (problem) => problems.push(problem) });

const list = JSON.stringify([
  {
    id: 'openai',
    name: 'OpenAI',
    api_pattern: 'https://api\\.openai\\.com',
    model_match: { starts_with: 'gpt-' },
    models: [
      {
        id: 'gpt-4o',
        match: { equals: 'gpt-4o' },
        prices: [
          { prices: { input_mtok: 7, output_mtok: 8 } },
          {
            constraint: { type: 'start_date', start_date: '2030-01-10' },
            prices: { input_mtok: { base: 9, tiers: [{ start: 1, price: 99 }] }, output_mtok: 10 },
          },
        ],
      },
      { id: 'gpt-audio', match: { equals: 'gpt-audio' }, prices: { output_audio_mtok: 1 } },
    ],
  },
]);

it('are those of the newest list once it was got, and change with the day', async () => {
  let now = FROM - DAY_MS;
  const prices = pricesAt(() => now);
  expect(prices.priceOf('claude-sonnet-4-6')).toBeDefined();
  answer = () => list;
  await prices.refresh(going(), url);
  expect(prices.priceOf('claude-sonnet-4-6')).toBeUndefined();
  expect(prices.priceOf('gpt-4o')).toEqual({ input: 7, output: 8 });
  expect(prices.priceOf('gpt-audio')).toBeUndefined();
  now += DAY_MS;
  expect(prices.priceOf('gpt-4o')).toEqual({ input: 9, output: 10 });
});

it.each([
  ['/refused', list],
  ['/no-json', '<html>'],
  ['/no-list', '{"a": 1}'],
  ['/empty', '[]'],
  ['/no-models', '[{"id": "openai"}]'],
])('stay what they are when the new list cannot be had (%s)', async (path, body) => {
  const prices = pricesAt(() => FROM);
  const before = prices.priceOf('gpt-4o');
  answer = () => body;
  await expect(prices.refresh(going(), url + path)).rejects.toThrow();
  expect(prices.priceOf('gpt-4o')).toEqual(before);
});

it('a refresh that nobody answers is ended by its signal', async () => {
  const ending = new AbortController();
  answer = () => null;
  const refreshed = pricesAt(() => FROM).refresh(ending.signal, url);
  ending.abort();
  await expect(refreshed).rejects.toThrow();
});

it('the user’s own come first', async () => {
  const prices = pricesAt(() => FROM);
  expect(prices.priceOf('gpt-4o')).not.toEqual({ input: 1, output: 2 });
  writeFileSync(join(home, 'prices.json'), '{"gpt-4o": {"input": 1, "output": 2}}');
  await nextTurn();
  expect(prices.priceOf('gpt-4o')).toEqual({ input: 1, output: 2 });
  expect(prices.priceOf('nobody’s model')).toBeUndefined();
});
