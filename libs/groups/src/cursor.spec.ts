import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor';

const id = '55fc1b75-0b89-47e6-8974-504eef89249c';
const byHand = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('the history cursor', () => {
  it('X021 is base64url of the compact JSON', () => {
    expect(encodeCursor(id, 75)).toBe(byHand({ r: id, s: 75, v: 2 }));
    expect(decodeCursor(byHand({ r: id, s: 0, v: 2 }), id)).toBe(0);
  });

  it.each([
    ['no text', 7],
    ['empty', ''],
    ['not base64url', '%%%'],
    ['padded', `${byHand({ r: id, s: 75, v: 2 })}=`],
    ['too long', 'A'.repeat(513)],
    ['not JSON', Buffer.from('hello').toString('base64url')],
    ['null', byHand(null)],
    ['another room', byHand({ r: id.replace('5', '6'), s: 75, v: 2 })],
    ['another version', byHand({ r: id, s: 75, v: 1 })],
    ['another order', byHand({ s: 75, r: id, v: 2 })],
    ['another key', byHand({ r: id, s: 75, v: 2, x: 1 })],
    ['a negative sequence', byHand({ r: id, s: -1, v: 2 })],
    ['a fraction', byHand({ r: id, s: 1.5, v: 2 })],
    ['a sequence that is text', byHand({ r: id, s: '75', v: 2 })],
    ['a sequence too large', byHand({ r: id, s: 2 ** 53, v: 2 })],
    ['spaces', Buffer.from(`{"r": "${id}","s":75,"v":2}`).toString('base64url')],
    ['a number in another form', Buffer.from(`{"r":"${id}","s":7e1,"v":2}`).toString('base64url')],
  ])('X023 refuses %s', (_fault, cursor) => {
    expect(() => decodeCursor(cursor, id)).toThrow(
      expect.objectContaining({ code: 'ROOM_CURSOR_INVALID' }),
    );
  });

  it('comes back as it went', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.maxSafeNat(), (group, seq) => {
        expect(decodeCursor(encodeCursor(group, seq), group)).toBe(seq);
      }),
    );
  });

  it('is one text only: no other one is taken', () => {
    const cursor = encodeCursor(id, 75);
    const change = fc.record({ at: fc.nat(cursor.length - 1), to: fc.string({ maxLength: 2 }) });
    fc.assert(
      fc.property(change, ({ at, to }) => {
        const other = cursor.slice(0, at) + to + cursor.slice(at + 1);
        fc.pre(other !== cursor);
        expect(takes(other)).toBe(isCanonical(other));
      }),
    );
  });
});

function takes(cursor: string): boolean {
  try {
    decodeCursor(cursor, id);
    return true;
  } catch {
    return false;
  }
}

function isCanonical(cursor: string): boolean {
  const json = Buffer.from(cursor, 'base64url').toString();
  const seq = /^\{"r":"[0-9a-f-]{36}","s":(0|[1-9]\d*),"v":2\}$/.exec(json)?.[1];
  return seq !== undefined && byHand({ r: id, s: Number(seq), v: 2 }) === cursor;
}
