import fc from 'fast-check';
import { characters, cutCharacters, hasControl, wellFormed } from './text';

const anyText = fc.string({ unit: 'binary' });

describe('characters', () => {
  it('counts and cuts by code point', () => {
    fc.assert(
      fc.property(anyText, fc.nat(20), (text, limit) => {
        const points = Array.from(text);
        return (
          characters(text) === points.length &&
          cutCharacters(text, limit) === points.slice(0, limit).join('')
        );
      }),
    );
  });

  it('mends lone surrogates and leaves the rest', () => {
    expect(wellFormed('a\ud800b')).toBe('a\ufffdb');
    fc.assert(fc.property(anyText, (text) => wellFormed(wellFormed(text)) === wellFormed(text)));
  });

  it.each(['\n', '\t', '\0', '\x7f', '\x85'])('finds the control %j', (control) => {
    expect(hasControl(`a${control}b`)).toBe(true);
  });

  it('takes ordinary text of any script as free of controls', () => {
    expect(hasControl('Zoë 包 हिन्दी 👍')).toBe(false);
  });
});
