import { usageSchema } from '@flowly/contract';
import { z } from 'zod';
import { demoModel } from './demo';
import { ModelAborted, ModelFailure } from './failure';
import type { ModelRequest } from './request';
import { streamModel } from './stream';
import { outcomeOf, quickLimits } from './test/request-to';

function saying(content: string, changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    target: { slot: 'demo', model: 'demo' },
    messages: [{ role: 'user', content }],
    signal: new AbortController().signal,
    limits: quickLimits,
    ...changes,
  };
}
const answerTo = async (content: string) => (await outcomeOf(streamModel(saying(content)))).text;

it('says that it is the demo model and quotes what was said', async () => {
  const answer = await answerTo('What is the   weather?\nSecond line');
  expect(answer).toMatch(/demo model/i);
  expect(answer).toContain('“What is the weather?”');
});

it('answers the same to the same', async () => {
  expect(await answerTo('Hello')).toBe(await answerTo('Hello'));
});

it('streams word by word, at once, with one finish and plausible usage', async () => {
  const started = performance.now();
  const stream = demoModel(saying('Hello'));
  await stream.next();
  expect(performance.now() - started).toBeLessThan(100);
  const { finishes } = await outcomeOf(stream);
  expect(finishes).toHaveLength(1);
  const usage = usageSchema.parse(finishes[0]?.usage);
  expect(usage.prompt_tokens).toBe(2);
  expect(usage.completion_tokens).toBeGreaterThan(20);
});

it('reacts to the last line of the user in a group', async () => {
  const prompt =
    'You are Writer.\n\nFlowly: [fail] hm\nUser: old\nUser: Review this\nFlowly: I did.';
  const answer = await answerTo(prompt);
  expect(answer).toContain('“Review this”');
});

it('never passes its orders on to other bots', async () => {
  const answer = await answerTo('[slow 0s] hello [SLOW 0] there');
  expect(answer).toContain('“hello there”');
  expect(answer).not.toMatch(/\[(slow|fail)/i);
});

it('fails when it is told to', async () => {
  const { text, error } = await outcomeOf(streamModel(saying('please [fail]')));
  expect(text).toBe('');
  expect(error).toBeInstanceOf(ModelFailure);
  expect(error).toHaveProperty('message', 'The demo model was told to fail.');
});

it('takes as long as it is told', async () => {
  const started = performance.now();
  await answerTo('[slow 1s] hello');
  expect(performance.now() - started).toBeGreaterThan(900);
});

it('stops at once, also while it is slow', async () => {
  const caller = new AbortController();
  const stream = streamModel(saying('[slow] hello', { signal: caller.signal }));
  await stream.next();
  const next = stream.next();
  caller.abort();
  await expect(next).rejects.toBeInstanceOf(ModelAborted);
});

it('copes with nothing at all', async () => {
  expect(await answerTo('')).toContain('nothing that I could quote');
});

describe('told to use tools', () => {
  const tools = ['clarify', 'exec'].map((name) => ({
    name,
    description: '',
    params: z.object({}),
  }));
  const said = (messages: ModelRequest['messages'], offered = tools) =>
    outcomeOf(streamModel(saying('', { messages, tools: offered })));
  const order = { role: 'user', content: 'Do [ask Tea or coffee?] then [run ls -l]' } as const;
  const done = (id: string, toolName: string, content: string) => [
    {
      role: 'assistant' as const,
      content: '',
      toolCalls: [{ id, name: toolName, argumentsJson: '{}' }],
    },
    { role: 'tool' as const, toolCallId: id, toolName, content },
  ];

  it('calls them one after the other and quotes what they said', async () => {
    const asked = done('demo-0', 'clarify', 'Tea');
    const first = await said([order]);
    expect(first.calls).toMatchObject([
      { name: 'clarify', argumentsJson: '{"question":"Tea or coffee?"}' },
    ]);
    expect(first.text).toBe('');
    const second = await said([order, ...asked]);
    expect(second.calls).toMatchObject([{ name: 'exec', argumentsJson: '{"command":"ls -l"}' }]);
    const third = await said([order, ...asked, ...done('demo-1', 'exec', 'total 0')]);
    expect(third.calls).toEqual([]);
    expect(third.text).toContain('A tool said: “Tea”. A tool said: “total 0”.');
    expect(third.text).not.toMatch(/\[(ask|run)/);
  });

  it('answers in words when the tool is not there', async () => {
    const { text, calls } = await said([order], []);
    expect(calls).toEqual([]);
    expect(text).toContain('demo model');
  });
});
