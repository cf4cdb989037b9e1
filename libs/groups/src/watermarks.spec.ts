import { moveWatermark, readWatermarks, shiftWatermarks } from './watermarks';

describe('watermarks', () => {
  it('read as 0 where they are no index', () => {
    const stored = { default: 3, writer: -1, ghost: 5 };
    expect(readWatermarks(['default', 'writer', 'reviewer'], stored)).toEqual({
      default: 3,
      writer: 0,
      reviewer: 0,
    });
    expect(readWatermarks(['default'], 'nonsense')).toEqual({ default: 0 });
  });

  it('move with the window, not below 0', () => {
    expect(shiftWatermarks({ default: 5, writer: 1 }, 2)).toEqual({ default: 3, writer: 0 });
  });

  it('move to the boundary and never back', () => {
    expect(moveWatermark({ default: 5, writer: 1 }, 'writer', 4)).toEqual({
      default: 5,
      writer: 4,
    });
    expect(moveWatermark({ default: 5 }, 'default', 4)).toEqual({ default: 5 });
  });
});
