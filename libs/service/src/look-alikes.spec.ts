import fc from 'fast-check';
import { editDistance, lookAlikes } from './look-alikes';

it('takes what is within two letters of a known name for a mistake, and nothing else', () => {
  const given = ['FLOWLY_HOEM', 'FLOWLY_HOME', 'FLOWLY_HO', 'FLOWLY_', 'FLOWLY_HOLIDAY', 'HOME'];
  expect(lookAlikes(given, ['FLOWLY_HOME'])).toEqual({
    mistaken: [
      ['FLOWLY_HOEM', 'FLOWLY_HOME'],
      ['FLOWLY_HO', 'FLOWLY_HOME'],
    ],
    ignored: ['FLOWLY_', 'FLOWLY_HOLIDAY'],
  });
});

it('measures a distance: nothing to itself, the same both ways, no shorter way round', () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, word, (a, b, c) => {
      expect(editDistance(a, a)).toBe(0);
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
      expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});
