import fc from 'fast-check';
import { characters, hasControl } from './text';
import { titleFromAnswer, titleFromQuestion } from './title';

describe('titles', () => {
  it.each([
    ['A trip to Rome', 'A trip to Rome'],
    ['  "A trip\tto  Rome"\n\nI hope you like it.', 'A trip to Rome'],
    ['# **Title: A trip to Rome**', 'A trip to Rome'],
    ['„Eine Reise nach Rom“', 'Eine Reise nach Rom'],
    ['<think>The user\nwants Rome.</think>\nA trip to Rome', 'A trip to Rome'],
    ['\u202eemoR ot pirt A\u0000', 'emoR ot pirt A'],
  ])('from the answer %j of a model: %s', (said, title) => {
    expect(titleFromAnswer(said)).toBe(title);
  });

  it.each(['', ' \n ', '""', '<think>I do not know', '***'])('are none in %j', (said) => {
    expect(titleFromAnswer(said)).toBeNull();
  });

  it('by rule are the first line of what was asked, cut at a word', () => {
    expect(titleFromQuestion('\n  How do I\tget to Rome?\nBy train.')).toBe(
      'How do I get to Rome?',
    );
    expect(titleFromQuestion('word '.repeat(30))).toBe(`${'word '.repeat(14)}word…`);
    expect(titleFromQuestion('x'.repeat(100))).toBe(`${'x'.repeat(79)}…`);
    expect(titleFromQuestion(' \u0007 ')).toBe('New conversation');
  });

  it('are one line of 1 to 80 characters, whatever is said', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    fc.assert(
      fc.property(text, (said) => {
        for (const title of [titleFromQuestion(said), titleFromAnswer(said) ?? 'none']) {
          expect(title).toBe(title.trim());
          expect(hasControl(title)).toBe(false);
          expect(/[\u2028\u2029]/.test(title)).toBe(false);
          expect(characters(title)).toBeGreaterThan(0);
          expect(characters(title)).toBeLessThanOrEqual(80);
          expect(title.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});
