import { byteRange } from './byte-range';

it.each([
  [undefined, null],
  ['bytes=0-3', { start: 0, end: 3 }],
  ['Bytes= 2 - 4 ', { start: 2, end: 4 }],
  ['bytes=4-', { start: 4, end: 9 }],
  ['bytes=4-99', { start: 4, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-99', { start: 0, end: 9 }],
  ['bytes=9-9', { start: 9, end: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=4-2', null],
  ['bytes=-', null],
  ['bytes=0-1,4-5', null],
  ['items=0-1', null],
  ['bytes=a-b', null],
])('%j of ten bytes is %j', (header, range) => {
  expect(byteRange(header, 10)).toEqual(range);
});

it('nothing of an empty file can be had in parts', () => {
  expect([byteRange('bytes=0-', 0), byteRange('bytes=-1', 0), byteRange(undefined, 0)]).toEqual([
    'unsatisfiable',
    'unsatisfiable',
    null,
  ]);
});
