import { spreadOf } from './numbers';

it('gives the samples that half and 99 of 100 do not exceed', () => {
  const samples = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(spreadOf(samples)).toEqual({ p50: 100, p99: 198, samples: 200 });
  expect(spreadOf([7])).toEqual({ p50: 7, p99: 7, samples: 1 });
});
