import { z } from 'zod';
import { ScriptedModelServer } from '@flowly/testing';
import type { ModelMessage, ModelTool } from './request';
import { streamDialect, streamModel } from './stream';
import { dialects, outcomeOf, requestTo } from './test/request-to';

const weather: ModelTool = {
  name: 'weather',
  description: 'Says the weather of a place.',
  params: z.object({ place: z.string().min(1), days: z.number().int().optional() }),
};

let server: ScriptedModelServer;
beforeEach(async () => {
  server = await ScriptedModelServer.start();
});
afterEach(() => server.close());

describe.each(dialects)('%s', (dialect) => {
  const ask = (messages?: readonly ModelMessage[]) =>
    outcomeOf(
      streamDialect(
        dialect,
        requestTo(server, dialect, { tools: [weather], ...(messages && { messages }) }),
      ),
    );

  it('tells of the tools and gives text, calls and one finish', async () => {
    const call = { name: 'weather', arguments: { place: 'Rome', days: 2 } };
    server.script('m', [{ text: 'Let me look.', toolCalls: [call] }]);
    const { text, calls, finishes, error } = await ask();
    expect(error).toBeNull();
    expect(text).toBe('Let me look.');
    expect(calls).toMatchObject([{ id: expect.stringMatching(/./), name: 'weather' }]);
    expect(JSON.parse(calls[0]?.argumentsJson ?? '')).toEqual({ place: 'Rome', days: 2 });
    expect(finishes).toMatchObject([{ finishReason: 'tool-calls' }]);
    expect(server.calls[0]?.tools).toEqual(['weather']);
    expect(JSON.stringify(server.calls[0]?.body)).toContain('Says the weather of a place.');
  });

  it('takes an answer of calls alone, several of them', async () => {
    const toolCalls = ['Rome', 'Oslo'].map((place) => ({ name: 'weather', arguments: { place } }));
    server.script('m', [{ toolCalls }]);
    const { text, calls, error } = await ask();
    expect(error).toBeNull();
    expect(text).toBe('');
    expect(calls.map(({ argumentsJson }) => JSON.parse(argumentsJson).place)).toEqual([
      'Rome',
      'Oslo',
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it('is given back what it called and what came of it', async () => {
    server.script('m', ['It is sunny.']);
    const { text, error } = await ask([
      { role: 'user', content: 'The weather?' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'call_1', name: 'weather', argumentsJson: '{"place":"Rome"}' }],
      },
      { role: 'tool', toolCallId: 'call_1', toolName: 'weather', content: 'Sun' },
    ]);
    expect(error).toBeNull();
    expect(text).toBe('It is sunny.');
    expect(server.calls[0]?.messages).toMatchObject([
      { role: 'user', content: 'The weather?' },
      { role: 'assistant', toolCalls: ['weather'] },
      { role: 'tool', content: 'Sun' },
    ]);
  });

  it('sends calls with broken arguments back as calls without any', async () => {
    server.script('m', ['Sorry.']);
    const { error } = await ask([
      { role: 'user', content: 'The weather?' },
      {
        role: 'assistant',
        content: 'Hm.',
        toolCalls: [{ id: 'call_1', name: 'weather', argumentsJson: '{"place":' }],
      },
      { role: 'tool', toolCallId: 'call_1', toolName: 'weather', content: 'Not JSON.' },
    ]);
    expect(error).toBeNull();
  });
});

it('gives broken arguments on as they came', async () => {
  server.script('m', [{ toolCalls: [{ name: 'weather', arguments: '{"place":' }] }]);
  const { calls } = await outcomeOf(
    streamModel(requestTo(server, 'compatible', { tools: [weather] })),
  );
  expect(calls).toMatchObject([{ name: 'weather', argumentsJson: '{"place":' }]);
});

it.each([
  [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  [400, 'registry.local/tiny does not support tools'],
  [404, 'No endpoints found that support tool use.'],
])(
  'a model that refuses tools (%d %s) is asked to talk only, and from then on',
  async (status, message) => {
    const body = JSON.stringify({ error: { message } });
    server.answer(({ tools }) =>
      tools.length > 0 ? { fault: { kind: 'status', status, body } } : 'Only words.',
    );
    const request = requestTo(server, 'compatible', {
      tools: [weather],
      messages: [
        { role: 'user', content: 'One' },
        {
          role: 'assistant',
          content: 'Hm.',
          toolCalls: [{ id: 'call_1', name: 'weather', argumentsJson: '{}' }],
        },
        { role: 'tool', toolCallId: 'call_1', toolName: 'weather', content: 'Sun' },
        { role: 'user', content: 'Two' },
      ],
    });
    for (let round = 0; round < 2; round++) {
      const { text, error } = await outcomeOf(streamModel(request));
      expect(error).toBeNull();
      expect(text).toBe('Only words.');
    }
    expect(server.calls.map(({ tools }) => tools.length)).toEqual([1, 0, 0]);
    expect(server.calls[1]?.messages.map(({ content }) => content)).toEqual(['One', 'Hm.', 'Two']);
  },
);
