import fc from 'fast-check';
import { providerWords } from './provider-words';
import { testKey } from './test/request-to';

const target = { slot: 'groq', model: 'm', apiKey: testKey } as const;

it('quotes a plain sentence in one line', () => {
  expect(providerWords('Context length\n exceeded.', target)).toBe(
    ' It says: "Context length exceeded."',
  );
});

it('leaves out addresses', () => {
  expect(providerWords('See https://joe:pw@host/x?key=1 for more.', target)).toBe(
    ' It says: "See … for more."',
  );
});

it('shortens a long text', () => {
  expect(providerWords('word '.repeat(500), target).length).toBeLessThan(260);
});

it.each([
  null,
  '',
  'open /srv/models/llama/config.json failed',
  'File C:\\models\\x is missing',
  'RuntimeError: CUDA out of memory',
  'connect ECONNREFUSED',
  '[Errno 2] no such file',
  'Traceback (most recent call last)',
])('does not quote %p', (said) => {
  expect(providerWords(said, target)).toBe('');
});

it('quotes the name of a model with slashes', () => {
  expect(providerWords('No model openai/gpt-4o/mini here', target)).toContain('openai/gpt-4o/mini');
});

it('never quotes six or more characters of the key in a row', () => {
  const text = fc.string({ maxLength: 300 });
  const piece = fc
    .tuple(fc.nat(testKey.length - 6), fc.integer({ min: 6, max: testKey.length }))
    .map(([at, length]) => testKey.slice(at, at + length));
  fc.assert(
    fc.property(text, piece, text, (before, quoted, after) => {
      expect(providerWords(before + quoted + after, target)).not.toContain(quoted);
    }),
  );
});
