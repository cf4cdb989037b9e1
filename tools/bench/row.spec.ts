import { reaches, type Row } from './row';

const spread = (p50: number, p99: number) => ({ p50, p99, samples: 100 });
const row = (changes: Partial<Row>): Row => ({
  measure: 'a measure',
  floor: spread(3, 4),
  ours: spread(12, 50),
  target: { p50: 12, p99: 50 },
  ...changes,
});

it('reaches its target up to the bound itself, in both numbers', () => {
  expect(reaches(row({}))).toBe(true);
  expect(reaches(row({ ours: spread(12.1, 50) }))).toBe(false);
  expect(reaches(row({ ours: spread(12, 50.1) }))).toBe(false);
});

it('counts from the floor where the target does', () => {
  const target = { p50: 10, overFloor: true } as const;
  expect(reaches(row({ target, ours: spread(13, 900) }))).toBe(true);
  expect(reaches(row({ target, ours: spread(13.1, 13.1) }))).toBe(false);
});

it('may be a multiple of the floor', () => {
  const target = { timesFloor: 1.5 };
  expect(reaches(row({ target, ours: spread(4.5, 900) }))).toBe(true);
  expect(reaches(row({ target, ours: spread(4.6, 4.6) }))).toBe(false);
});

it('says nothing without a target', () => {
  expect(reaches(row({ target: null }))).toBeNull();
});
