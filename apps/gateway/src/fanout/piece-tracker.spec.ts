import fc from 'fast-check';
import { PieceTracker } from './piece-tracker';

describe('the pieces of a run', () => {
  it('become one text without gap or repeat, however they overlap', () => {
    const piece = fc.record({ back: fc.nat(8), length: fc.nat(8) });
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), fc.array(piece), (text, pieces) => {
        const tracker = new PieceTracker();
        let end = 0;
        let shown = '';
        for (const { back, length } of pieces) {
          const offset = Math.max(0, end - back);
          const part = text.slice(offset, offset + length);
          shown += tracker.fresh('run', offset, part);
          end = Math.max(end, offset + part.length);
        }
        expect(shown).toBe(text.slice(0, end));
      }),
    );
  });

  it('begin anew after a restart and pass whole when the run was not known', () => {
    const tracker = new PieceTracker();
    expect(tracker.fresh('a', 10, 'late')).toBe('late');
    expect(tracker.fresh('a', 12, 'te.')).toBe('.');
    tracker.restart('a');
    expect(tracker.fresh('a', 0, 'again')).toBe('again');
  });
});
