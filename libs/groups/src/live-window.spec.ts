import fc from 'fast-check';
import {
  messageWeight,
  trimWindow,
  WINDOW_LEAST,
  WINDOW_MESSAGES,
  WINDOW_WEIGHT,
  windowLength,
} from './live-window';

const many = (count: number, weight: number) => Array.from({ length: count }, () => weight);

/** The rule as the contract says it. */
function walk(newestFirst: readonly number[]): number {
  let kept = 0;
  let sum = 0;
  for (const weight of newestFirst) {
    if (kept === WINDOW_MESSAGES) break;
    if (sum + weight > WINDOW_WEIGHT && kept >= WINDOW_LEAST) break;
    sum += weight;
    kept++;
  }
  return kept;
}

describe('messageWeight', () => {
  it('counts code points of content, arguments and thumbnails', () => {
    const file = {
      fileName: 'a.png',
      mimeType: 'image/png',
      kind: 'image',
      status: 'ready',
    } as const;
    expect(messageWeight({ content: '' })).toBe(256);
    expect(
      messageWeight({
        content: '🦊🦊',
        toolCalls: [{ id: 'a', name: 'exec', argumentsJson: '{}' }],
        attachments: [{ ...file, thumbnail: 'abcd' }, file],
      }),
    ).toBe(256 + 2 + 2 + 4);
  });
});

describe('windowLength', () => {
  it.each([
    ['nothing', [], 0],
    ['at most 1,000', many(1_001, 1), 1_000],
    ['exactly the weight', [WINDOW_WEIGHT - 40, ...many(40, 1)], 41],
    ['one over the weight', [WINDOW_WEIGHT - 39, ...many(40, 1)], 40],
    ['never fewer than 30', many(50, WINDOW_WEIGHT), 30],
    ['a heavy message among the newest 30', [...many(20, 1), 3e6, ...many(50, 1)], 30],
  ])('holds %s', (_rule, weights, kept) => {
    expect(windowLength(weights)).toBe(kept);
  });
});

describe('trimWindow', () => {
  it('reads no weight while nothing leaves, and one for each message that does', () => {
    const reads: number[] = [];
    function* oldest() {
      for (let at = 0; ; at++) {
        reads.push(at);
        yield 1;
      }
    }
    expect(trimWindow({ count: 1_000, weight: 1_000 }, oldest()).trimmed).toBe(0);
    expect(reads).toEqual([]);
    expect(trimWindow({ count: 1_003, weight: 1_003 }, oldest())).toEqual({
      count: 1_000,
      weight: 1_000,
      trimmed: 3,
    });
    expect(reads).toEqual([0, 1, 2]);
  });

  it('message by message gives the same window as the walk over all of history', () => {
    const weight = fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 256, max: 3_000 }) },
      { weight: 3, arbitrary: fc.integer({ min: 30_000, max: 300_000 }) },
      { weight: 1, arbitrary: fc.constant(WINDOW_WEIGHT) },
    );
    const history = fc.array(weight, { maxLength: 300, size: 'max' });
    fc.assert(
      fc.property(history, fc.integer({ min: 0, max: 1_100 }), (tail, before) => {
        const all = [...many(before, 256), ...tail];
        let first = before - windowLength(many(before, 256));
        let size = { count: before - first, weight: (before - first) * 256 };
        for (let next = before; next < all.length; next++) {
          const grown = { count: size.count + 1, weight: size.weight + (all[next] ?? 0) };
          const { trimmed, ...after } = trimWindow(grown, all.slice(first));
          first += trimmed;
          size = after;
        }
        const newestFirst = all.toReversed();
        expect(size.count).toBe(walk(newestFirst));
        expect(size.count).toBe(windowLength(newestFirst));
        expect(size.weight).toBe(all.slice(first).reduce((sum, each) => sum + each, 0));
      }),
      { numRuns: 60 },
    );
  });
});
