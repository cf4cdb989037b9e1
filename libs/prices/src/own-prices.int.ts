import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OwnPrices } from './own-prices';

let folder: string;
let file: string;
let problems: string[];
let prices: OwnPrices;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowly-prices-'));
  file = join(folder, 'prices.json');
  problems = [];
  prices = new OwnPrices(file, (problem) => problems.push(problem));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (value: unknown) => writeFileSync(file, JSON.stringify(value));
const priceOf = async (model: string) => {
  await nextTurn();
  return prices.priceOf(model);
};

it('G162: knows nothing without a file, and reads it when it comes, changes and goes', async () => {
  expect(await priceOf('m/one')).toBeUndefined();
  write({ 'm/one': { input: 10, output: 20, cacheRead: 1 } });
  expect(await priceOf('m/one')).toEqual({ input: 10, output: 20, cacheRead: 1 });
  write({ 'm/one': { input: 11, output: 20 } });
  expect(await priceOf('m/one')).toEqual({ input: 11, output: 20 });
  rmSync(file);
  expect(await priceOf('m/one')).toBeUndefined();
  expect(problems).toEqual([]);
});

it.each([
  ['no JSON', '{"m": '],
  ['a list', '[]'],
  ['a price below nothing', '{"m": {"input": -1, "output": 1}}'],
  ['a price that is text', '{"m": {"input": "1", "output": 1}}'],
  ['a price beyond all numbers', '{"m": {"input": 1e999, "output": 1}}'],
  ['half a price', '{"m": {"input": 1}}'],
  ['nothing', ''],
])('%s counts as no prices at all, is told of once, and heals', async (_, text) => {
  writeFileSync(file, text);
  for (let times = 0; times < 3; times++) expect(await priceOf('m')).toBeUndefined();
  expect(problems).toHaveLength(1);
  expect(problems[0]).not.toContain(folder);
  write({ m: { input: 1, output: 2, note: 'more than is needed' } });
  expect(await priceOf('m')).toEqual({ input: 1, output: 2 });
  expect(problems).toHaveLength(1);
});

it('a folder of that name is told of, not thrown', async () => {
  mkdirSync(file);
  expect(await priceOf('m')).toBeUndefined();
  expect(problems).toHaveLength(1);
});

it.each(['constructor', 'toString'])('%s is a model like any other', async (model) => {
  write({ other: { input: 1, output: 1 } });
  expect(await priceOf(model)).toBeUndefined();
  writeFileSync(file, `{${JSON.stringify(model)}: {"input": 3, "output": 4}}`);
  expect(await priceOf(model)).toEqual({ input: 3, output: 4 });
});
