import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { foldUsage, memberCost, publicUsage, withCost } from '@flowly/groups';
import { streamModel } from '@flowly/models';
import { Prices } from '@flowly/prices';

const PRICE = { input: 3, output: 15, cacheRead: 0.3 };
const MODEL = 'm/one';

/** The body a provider answers with; each test says its numbers in the provider's own words. */
let answer = '';
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
});
let apiBase: string;
let home: string;
let prices: Prices;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  apiBase = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`;
  home = mkdtempSync(join(tmpdir(), 'flowly-cost-'));
  writeFileSync(join(home, 'prices.json'), JSON.stringify({ [MODEL]: PRICE }));
  prices = new Prices({ home, onBroken: (problem) => expect(problem).toBe('') });
});
afterAll(async () => {
  rmSync(home, { recursive: true });
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const line = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

/** Chat completions: the prompt's count includes what came from the cache. */
function openAiStyle(usage: { prompt: number; cached: number; completion: number }): string {
  const { prompt, cached, completion } = usage;
  return [
    line({ choices: [{ index: 0, delta: { content: 'ok' } }] }),
    line({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    line({
      choices: [],
      usage: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        prompt_tokens_details: { cached_tokens: cached },
      },
    }),
    'data: [DONE]\n\n',
  ].join('');
}

/** Messages: what was read from the cache and written to it is counted beside the input. */
function anthropicStyle(usage: { input: number; read: number; write: number; output: number }) {
  const { input, read, write, output } = usage;
  return [
    line({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: input,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: write,
          output_tokens: 1,
        },
      },
    }),
    line({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    line({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ok' } }),
    line({ type: 'content_block_stop', index: 0 }),
    line({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: output },
    }),
    line({ type: 'message_stop' }),
  ].join('');
}

/** What a group shows after one turn with this answer, and its cost before it is rounded. */
async function turn(slot: 'vllm' | 'anthropic', body: string) {
  answer = body;
  const stream = streamModel({
    target: { slot, model: MODEL, apiBase, apiKey: 'k' },
    messages: [{ role: 'user', content: 'Hello' }],
    signal: new AbortController().signal,
    limits: { firstByteMs: 5_000, betweenBytesMs: 5_000, maxRetries: 0, retryDelayMs: 1 },
  });
  for await (const event of stream) {
    if (event.type !== 'finish') continue;
    const stored = foldUsage(null, { member: 'writer', model: MODEL, usage: event.usage });
    const shown = publicUsage(stored);
    if (!shown?.members[0]) throw new Error('nothing was counted');
    const unrounded = memberCost(shown.members[0], prices.priceOf);
    return { usage: withCost(shown, prices.priceOf), unrounded: unrounded ?? NaN };
  }
  throw new Error('the model did not finish');
}

const count = fc.nat({ max: 2_000_000 });

it('costs what the bill says when the prompt’s count includes the cache', async () => {
  await fc.assert(
    fc.asyncProperty(count, count, fc.integer({ min: 1, max: 100_000 }), async (a, b, output) => {
      const [prompt, cached] = [Math.max(a, b), Math.min(a, b)];
      const body = openAiStyle({ prompt, cached, completion: output });
      const { usage, unrounded } = await turn('vllm', body);
      const bill =
        ((prompt - cached) / 1e6) * PRICE.input +
        (cached / 1e6) * PRICE.cacheRead +
        (output / 1e6) * PRICE.output;
      expect(Math.abs(unrounded - bill)).toBeLessThan(1e-9);
      expect(usage).toMatchObject({ inputTokens: prompt, cacheReadTokens: cached });
      expect(Math.abs((usage.costUsd ?? NaN) - bill)).toBeLessThan(0.6e-6);
    }),
    { numRuns: 40 },
  );
});

it('costs what the bill says when the cache is counted beside the input', async () => {
  await fc.assert(
    fc.asyncProperty(
      count,
      count,
      count,
      fc.integer({ min: 1, max: 100_000 }),
      async (input, read, write, output) => {
        const body = anthropicStyle({ input, read, write, output });
        const { usage, unrounded } = await turn('anthropic', body);
        const bill =
          ((input + write) / 1e6) * PRICE.input +
          (read / 1e6) * PRICE.cacheRead +
          (output / 1e6) * PRICE.output;
        expect(Math.abs(unrounded - bill)).toBeLessThan(1e-9);
        expect(usage.inputTokens).toBe(input + read + write);
        expect(usage).toMatchObject({ cacheReadTokens: read, cacheWriteTokens: write });
        expect(Math.abs((usage.costUsd ?? NaN) - bill)).toBeLessThan(0.6e-6);
      },
    ),
    { numRuns: 40 },
  );
});

it('G162: both ways of counting the same tokens come to the same', async () => {
  const inclusive = openAiStyle({ prompt: 1_000_000, cached: 800_000, completion: 1_000 });
  const exclusive = anthropicStyle({ input: 200_000, read: 800_000, write: 0, output: 1_000 });
  const expected = { inputTokens: 1_000_000, cacheReadTokens: 800_000, costUsd: 0.855 };
  expect((await turn('vllm', inclusive)).usage).toMatchObject(expected);
  expect((await turn('anthropic', exclusive)).usage).toMatchObject(expected);
});
