import fc from 'fast-check';
import { defaultLimits } from '@flowly/contract';
import { jsonDepth } from './json-depth';
import { readFrame } from './read-frame';

const read = (text: string, limits: Partial<typeof defaultLimits> = {}) =>
  readFrame(Buffer.from(text), false, { ...defaultLimits, ...limits });
const call = (params: unknown) =>
  JSON.stringify({ type: 'rpc', id: 'r', method: 'health', params });

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('reading a frame', () => {
  it.each(['nonsense', '', '{"type":', '{"type":"rpc"} x'])('calls %p no JSON', (text) => {
    expect(read(text)).toEqual({ kind: 'bad', message: 'Invalid JSON' });
  });

  it.each(['[]', '1', 'null', '"rpc"', '{}', '{"type":"hello"}', '{"type":1}'])(
    'refuses %p with an error frame',
    (text) => {
      expect(read(text)).toMatchObject({ kind: 'bad' });
    },
  );

  it('refuses a binary frame', () => {
    expect(readFrame(Buffer.from('{"type":"ping"}'), true, defaultLimits)).toMatchObject({
      kind: 'bad',
    });
  });

  it('gives the timestamp of a ping as it came', () => {
    expect(read('{"type":"ping","timestamp":[1]}')).toEqual({ kind: 'ping', timestamp: [1] });
  });

  it.each([
    ['"r-17"', 'r-17'],
    ['17', 17],
    ['null', null],
    ['{"a":1}', { a: 1 }],
  ])('echoes the id %s', (json, id) => {
    expect(read(`{"type":"rpc","id":${json},"method":"health"}`)).toMatchObject({
      kind: 'call',
      id,
    });
  });

  it('takes a missing id as empty', () => {
    expect(read('{"type":"rpc","method":"health"}')).toMatchObject({ kind: 'call', id: '' });
  });

  it('refuses a call without a method', () => {
    expect(read('{"type":"rpc","id":1}')).toMatchObject({
      id: 1,
      error: { code: 'INVALID_REQUEST' },
    });
  });

  it('takes 64 levels and no more', () => {
    const nested = (levels: number) =>
      JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
    expect(read(call(nested(63)))).toMatchObject({ kind: 'call' });
    expect(read(call(nested(64)))).toMatchObject({ id: 'r', error: { code: 'INVALID_REQUEST' } });
    expect(read('['.repeat(1_000_000))).toMatchObject({
      id: '',
      error: { code: 'INVALID_REQUEST' },
    });
  });

  it('refuses params over the limit, counted as JSON', () => {
    const text = call({ a: 'ü'.repeat(50) });
    expect(read(text, { paramsBytes: 108 })).toMatchObject({ kind: 'call' });
    expect(read(text, { paramsBytes: 107 })).toMatchObject({
      error: { code: 'REQUEST_TOO_LARGE' },
    });
  });

  it('measures the params of a bot method by themselves, and leaves them to the order of checks', () => {
    const inner = { a: 'ü'.repeat(50) };
    const params = { name: 'writer', method: 'chat.send', params: inner };
    const text = JSON.stringify({ type: 'rpc', id: 'r', method: 'profiles.rpc', params });
    expect(read(text)).toMatchObject({ kind: 'call', isOversized: false });
    expect(read(text, { paramsBytes: 108 })).toMatchObject({ kind: 'call', isOversized: false });
    expect(read(text, { paramsBytes: 107 })).toMatchObject({ kind: 'call', isOversized: true });
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'refuses the key %s anywhere in params',
    (key) => {
      const text = `{"type":"rpc","id":1,"method":"health","params":{"a":[{"${key}":1}]}}`;
      expect(read(text)).toMatchObject({ error: { code: 'INVALID_PARAMS' } });
    },
  );

  it('counts the depth of any JSON as a parser would', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? 2 : 0);
        expect(jsonDepth(Buffer.from(text))).toBe(depthOf(value));
      }),
    );
  });
});
