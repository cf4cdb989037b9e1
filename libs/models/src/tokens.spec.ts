import fc from 'fast-check';
import { cutToTokens, messageTokens, textTokens, toolsTokens } from './tokens';

const withFile = (mimeType: string, data?: Uint8Array, url?: string) =>
  messageTokens({
    role: 'user',
    content: '',
    files: [{ fileName: 'a', mimeType, ...(data && { data }), ...(url && { url }) }],
  });

it('counts three bytes as a token', () => {
  expect([textTokens(''), textTokens('abcd'), textTokens('包子'), textTokens('😀')]).toEqual([
    0, 2, 2, 2,
  ]);
});

it('cuts a text to so many tokens, never inside a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: -1, max: 40 }), (given, most) => {
      const text = given.toWellFormed();
      const cut = cutToTokens(text, most);
      expect(textTokens(cut)).toBeLessThanOrEqual(Math.max(0, most));
      expect(text.startsWith(cut)).toBe(true);
      if (textTokens(text) <= most) expect(cut).toBe(text);
    }),
  );
});

it('counts calls, and files by what they are to a model', () => {
  const toolCalls = [{ id: '1', name: 'exec', argumentsJson: 'x'.repeat(300) }];
  expect(messageTokens({ role: 'assistant', content: '', toolCalls })).toBeGreaterThan(100);
  const bytes = new Uint8Array(300_000).fill(97);
  expect(withFile('image/png', bytes)).toBeLessThan(2_000);
  expect(withFile('text/plain', bytes)).toBeGreaterThan(90_000);
  expect(withFile('application/pdf', bytes)).toBeGreaterThan(10_000);
  expect(withFile('audio/mpeg', bytes)).toBeGreaterThan(500);
  expect(withFile('image/png', undefined, 'https://example.com/a.png')).toBeGreaterThan(1_000);
  expect(withFile('application/zip', bytes)).toBeLessThan(100);
  expect(withFile('image/png')).toBeLessThan(100);
  expect(toolsTokens([])).toBe(0);
});
