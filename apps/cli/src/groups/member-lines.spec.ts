import fc from 'fast-check';
import { MemberLines } from './member-lines';

it('gives whole lines only, and the last one with the end', () => {
  const lines = new MemberLines();
  expect(lines.grow('ada', 'One')).toEqual([]);
  expect(lines.grow('bob', 'Mine\n')).toEqual(['Mine']);
  expect(lines.grow('ada', 'One line.\nTwo')).toEqual(['One line.']);
  expect(lines.grow('ada', 'One line.\nTwo lines.')).toEqual([]);
  expect(lines.end('ada')).toEqual(['Two lines.']);
  expect(lines.end('ada')).toEqual([]);
});

it('breaks a long line at a space, and one without spaces at its end', () => {
  const lines = new MemberLines();
  const words = 'word '.repeat(30);
  const broken = lines.grow('ada', words);
  expect(broken.every((line) => line.length <= 76)).toBe(true);
  expect(broken.length).toBe(1);
  expect(lines.grow('bob', `${'x'.repeat(100)} y`)).toEqual(['x'.repeat(100)]);
});

it('a text that begins anew ends what was said before', () => {
  const lines = new MemberLines();
  lines.grow('ada', 'Let me look');
  expect(lines.grow('ada', 'It is\n')).toEqual(['Let me look', 'It is']);
});

it('however a text arrives, its words are the same', () => {
  const words = fc.array(fc.constantFrom('a', 'bc', '\n', ' ', 'longer', 'x'.repeat(90)), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(words, fc.array(fc.nat(200), { maxLength: 8 }), (pieces, cuts) => {
      const text = pieces.join('');
      const lines = new MemberLines();
      const said = [...cuts.sort((a, b) => a - b), text.length].flatMap((cut) =>
        lines.grow('m', text.slice(0, cut)),
      );
      const all = [...said, ...lines.end('m')].join('');
      expect(all.replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
    }),
  );
});
