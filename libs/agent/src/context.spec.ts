import fc from 'fast-check';
import type { ContextMessage } from '@flowly/store';
import { conversation } from './context';

const call = (id: string) => ({ id, name: 'exec', argumentsJson: '{}' });
const result = (toolCallId: string, text = 'done'): ContextMessage => ({
  role: 'tool',
  text,
  toolCallId,
  toolName: 'exec',
});

it('puts each result behind its call', () => {
  expect(
    conversation([
      { role: 'user', text: 'Do it' },
      { role: 'assistant', text: 'Yes', toolCalls: [call('a'), call('b')] },
      result('a', 'A'),
      result('b', 'B'),
      { role: 'assistant', text: 'Done' },
    ]),
  ).toEqual([
    { role: 'user', content: 'Do it' },
    { role: 'assistant', content: 'Yes', toolCalls: [call('a'), call('b')] },
    { role: 'tool', toolCallId: 'a', toolName: 'exec', content: 'A' },
    { role: 'tool', toolCallId: 'b', toolName: 'exec', content: 'B' },
    { role: 'assistant', content: 'Done' },
  ]);
});

it('gives calls of two turns with one id their own results', () => {
  const said = conversation([
    { role: 'assistant', text: '', toolCalls: [call('a')] },
    result('a', 'first'),
    { role: 'user', text: 'Again' },
    { role: 'assistant', text: '', toolCalls: [call('a')] },
    result('a', 'second'),
  ]);
  const results = said.filter(({ role }) => role === 'tool').map(({ content }) => content);
  expect(results).toEqual(['first', 'second']);
});

it('shortens results of earlier turns', () => {
  const [, tool] = conversation([
    { role: 'assistant', text: '', toolCalls: [call('a')] },
    result('a', 'x'.repeat(9_000)),
  ]);
  expect(tool?.content.length).toBeLessThan(4_100);
  expect(tool?.content).toContain('left out');
});

const message: fc.Arbitrary<ContextMessage> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), text: fc.string() }),
  fc.record({ role: fc.constant('assistant' as const), text: fc.string() }),
  fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }).map((ids) => ({
    role: 'assistant' as const,
    text: '',
    toolCalls: ids.map(call),
  })),
  fc.constantFrom('a', 'b', 'c', 'd').map((id) => result(id)),
);

it('never has a call without a result nor a result without a call, whatever is missing', () => {
  fc.assert(
    fc.property(fc.array(message), (stored) => {
      const waiting: string[] = [];
      for (const each of conversation(stored)) {
        if (each.role === 'tool') expect(waiting.shift()).toBe(each.toolCallId);
        else expect(waiting).toEqual([]);
        if (each.role === 'assistant') waiting.push(...(each.toolCalls ?? []).map(({ id }) => id));
      }
      expect(waiting).toEqual([]);
    }),
  );
});
