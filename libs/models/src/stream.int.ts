import { Gate, ScriptedModelServer, type Answer } from '@flowly/testing';
import { ModelFailure } from './failure';
import { streamDialect, streamModel } from './stream';
import { dialects, outcomeOf, requestTo, testKey } from './test/request-to';

const cached = {
  prompt_tokens: 100,
  completion_tokens: 7,
  total_tokens: 107,
  cache_read_tokens: 64,
  cache_write_tokens: 20,
};

let server: ScriptedModelServer;
beforeEach(async () => {
  server = await ScriptedModelServer.start();
});
afterEach(() => server.close());

describe.each(dialects)('%s', (dialect) => {
  const ask = (answer: Answer, limits = {}) => {
    server.script('m', [answer]);
    return outcomeOf(streamDialect(dialect, requestTo(server, dialect, { limits })));
  };

  it('gives the text in pieces and one finish', async () => {
    server.script('m', [{ text: ['One', ' two', ' thrée'] }]);
    const texts: string[] = [];
    let finishes = 0;
    for await (const event of streamDialect(dialect, requestTo(server, dialect))) {
      if (event.type === 'text') texts.push(event.text);
      else finishes += 1;
    }
    expect(texts).toEqual(['One', ' two', ' thrée']);
    expect(finishes).toBe(1);
  });

  it('gives a piece as soon as it is there', async () => {
    const gate = new Gate();
    server.script('m', [{ text: ['first', gate.opened, ' second'] }]);
    const stream = streamDialect(dialect, requestTo(server, dialect));
    expect((await stream.next()).value).toEqual({ type: 'text', text: 'first' });
    gate.open();
    expect((await stream.next()).value).toEqual({ type: 'text', text: ' second' });
    await stream.return(undefined);
  });

  it('sends the system prompt, the conversation and the key', async () => {
    server.script('m', ['ok']);
    const request = requestTo(server, dialect, {
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Three' },
      ],
    });
    await outcomeOf(streamDialect(dialect, request));
    const [call] = server.calls;
    expect(call?.messages.map(({ content }) => content)).toEqual([
      'Be brief.',
      'One',
      'Two',
      'Three',
    ]);
    expect(call?.messages.slice(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(call?.headers)).toContain(testKey);
  });

  it('counts cache reads and writes as prompt tokens', async () => {
    const usage = dialect === 'gemini' ? { ...cached, cache_write_tokens: 0 } : cached;
    const { finishes } = await ask({ text: 'ok', usage });
    expect(finishes).toEqual([{ type: 'finish', finishReason: 'stop', usage }]);
  });

  it('finishes with usage null when the provider sends none', async () => {
    const { text, finishes, error } = await ask({ text: 'kept', usage: null });
    expect(error).toBeNull();
    expect(text).toBe('kept');
    expect(finishes).toEqual([expect.objectContaining({ usage: null })]);
  });

  it('keeps the text of an answer without its closing line', async () => {
    const { text, finishes, error } = await ask({ text: 'kept', fault: { kind: 'no-close' } });
    expect(error).toBeNull();
    expect(text).toBe('kept');
    expect(finishes).toEqual([{ type: 'finish', finishReason: 'other', usage: null }]);
  });

  it('takes an empty answer that was closed as an answer', async () => {
    const { text, finishes, error } = await ask({ text: [] });
    expect(error).toBeNull();
    expect(text).toBe('');
    expect(finishes).toHaveLength(1);
  });

  it.each<[string, Answer]>([
    ['broken JSON before the text', { text: 'never', fault: { kind: 'broken-json', after: 0 } }],
    ['broken JSON after the text', { text: 'some', fault: { kind: 'broken-json' } }],
    ['a reset before the headers', { fault: { kind: 'reset', after: 0 } }],
    ['a reset in the text', { text: ['some', ' text'], fault: { kind: 'reset', after: 1 } }],
    ['an end without any text', { text: 'never', fault: { kind: 'no-close', after: 0 } }],
  ])('fails on %s', async (_name, answer) => {
    const { finishes, error } = await ask(answer);
    expect(error).toBeInstanceOf(ModelFailure);
    expect(error).toMatchObject({ code: 'MODEL_PROVIDER_UNAVAILABLE', retryable: true });
    expect(finishes).toEqual([]);
  });

  it.each<[string, Answer, string]>([
    ['before the headers', { fault: { kind: 'hang-before-headers' } }, 'did not begin to answer'],
    ['in the text', { text: 'some', fault: { kind: 'hang' } }, 'stopped in the middle'],
  ])('fails in bounded time when the provider hangs %s', async (_name, answer, words) => {
    const { error } = await ask(answer, { firstByteMs: 150, betweenBytesMs: 150 });
    expect(error).toBeInstanceOf(ModelFailure);
    expect(error).toHaveProperty('message', expect.stringContaining(words));
    await expect(server.calls[0]?.ended).resolves.toBe('closed');
  });

  it('fails in bounded time when the body of a refusal hangs', async () => {
    const { error } = await ask(
      { fault: { kind: 'status', status: 400, headers: { 'content-length': '1000' } } },
      { firstByteMs: 150, betweenBytesMs: 150 },
    );
    expect(error).toHaveProperty('message', expect.stringContaining('refused the request (400)'));
  });

  it.each([
    [401, false, 'refused the key (401)'],
    [403, false, 'refused the key (403)'],
    [400, false, 'refused the request (400)'],
    [404, false, 'does not know the model "m"'],
    [307, false, 'is elsewhere (307)'],
    [408, true, 'took too long'],
    [429, true, 'is limiting requests'],
    [503, true, 'has a problem of its own (503)'],
    [999, true, 'could not be read'],
  ])('turns status %d into a sentence', async (status, retryable, words) => {
    const { error } = await ask({ fault: { kind: 'status', status } });
    expect(error).toBeInstanceOf(ModelFailure);
    expect(error).toHaveProperty('retryable', retryable);
    expect(error).toHaveProperty('message', expect.stringContaining(words));
  });
});

it.each(dialects)('says what %s reports inside its stream', async (dialect) => {
  const fault = { kind: 'error-event', message: 'The engine is overheated.' } as const;
  server.script('m', [{ text: 'some', fault }]);
  const { text, error } = await outcomeOf(streamDialect(dialect, requestTo(server, dialect)));
  expect(text).toBe('some');
  expect(error).toHaveProperty('message', expect.stringContaining('The engine is overheated.'));
});

it('frees the connection when the reader leaves early', async () => {
  server.script('m', [{ text: ['a', new Gate().opened, 'b'] }]);
  for await (const event of streamModel(requestTo(server, 'compatible'))) {
    expect(event).toEqual({ type: 'text', text: 'a' });
    break;
  }
  await expect(server.calls[0]?.ended).resolves.toBe('closed');
});

it('says that nobody listens at the address', async () => {
  const request = requestTo(server, 'compatible');
  await server.close();
  const { error } = await outcomeOf(streamModel(request));
  expect(error).toHaveProperty(
    'message',
    'OpenAI-compatible server could not be reached. Check the network and `providers.vllm.apiBase`.',
  );
  server = await ScriptedModelServer.start();
});

it('gives the whole of an answer that comes faster than it is read', async () => {
  const pieces = Array.from({ length: 3_000 }, (_, index) => `${index} `);
  server.script('m', [{ text: pieces }]);
  const { text, finishes } = await outcomeOf(streamModel(requestTo(server, 'compatible')));
  expect(text).toBe(pieces.join(''));
  expect(finishes[0]?.usage?.completion_tokens).toBe(3_000);
});
