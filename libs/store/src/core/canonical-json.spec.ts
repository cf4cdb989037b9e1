import fc from 'fast-check';
import { canonicalJson } from './canonical-json';

describe('canonical JSON', () => {
  it('sorts keys as text, also those of digits only, and leaves out spaces', () => {
    expect(canonicalJson({ b: 1, '10': 2, '9': 3, a: [true, null, 'é'] })).toBe(
      '{"10":2,"9":3,"a":[true,null,"é"],"b":1}',
    );
  });

  it('sorts by code point, not by UTF-16 unit', () => {
    expect(canonicalJson({ '\u{1f600}': 1, '\uff5e': 2 })).toBe('{"\uff5e":2,"\u{1f600}":1}');
  });

  it('leaves out what is undefined and keeps keys that objects treat specially', () => {
    const odd: unknown = JSON.parse('{"__proto__":1,"constructor":2}');
    expect(canonicalJson(odd)).toBe('{"__proto__":1,"constructor":2}');
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  });

  it('means the same value and does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const text = canonicalJson(value);
        const again: unknown = JSON.parse(text);
        expect(again).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(again))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, reversed(member)]);
  return Object.fromEntries(entries.reverse());
}
