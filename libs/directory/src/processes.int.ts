import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { runAtOnce } from './children';
import { HomeFixture } from './home-fixture';

let fixture: HomeFixture;
beforeEach(() => {
  fixture = new HomeFixture();
});
afterEach(() => fixture.remove());

it('three processes that start on a new folder agree on one host, bot and key', async () => {
  const found = await runAtOnce('prepare-home.child.ts', [
    [fixture.home],
    [fixture.home],
    [fixture.home],
  ]);
  expect(found[0]).toEqual({
    hostId: expect.any(String),
    botId: expect.any(String),
    key: expect.any(String),
  });
  expect(found).toEqual([found[0], found[0], found[0]]);
  expect(readdirSync(fixture.home).filter((name) => name.endsWith('.new'))).toEqual([]);
}, 30_000);

it('two processes that make bots at once keep the limit, the names and the seeds', async () => {
  fixture.prepare();
  const results = z
    .array(z.object({ made: z.array(z.string()), refused: z.string(), seen: z.number() }))
    .parse(
      await runAtOnce('create-bots.child.ts', [
        [fixture.home, 'a'],
        [fixture.home, 'b'],
      ]),
    );
  expect(results.map((result) => result.refused)).toEqual(['PROFILE_LIMIT', 'PROFILE_LIMIT']);
  const made = results.flatMap((result) => result.made);
  expect(made.filter((name) => name === 'shared')).toHaveLength(1);
  expect(made.filter((name) => name === 'taken')).toHaveLength(1);
  const bots = fixture.directory.list().slice(1);
  expect(bots).toHaveLength(15);
  expect(new Set(bots.map((bot) => bot.profile.markSeed)).size).toBe(15);
  expect(bots.every((bot) => existsSync(join(bot.folder, 'bot.sqlite3')))).toBe(true);
  expect(readdirSync(join(fixture.home, 'profiles'))).toHaveLength(15);
}, 30_000);

it('two processes that make and delete bots at once keep the limit and the seeds', async () => {
  fixture.prepare();
  const results = z
    .array(
      z.object({
        most: z.number(),
        doubledSeeds: z.literal(0),
        refused: z.number(),
        own: z.array(z.string()),
      }),
    )
    .parse(
      await runAtOnce('churn-bots.child.ts', [
        [fixture.home, 'a', '4'],
        [fixture.home, 'b', '4'],
      ]),
    );
  expect(Math.max(...results.map(({ most }) => most))).toBe(4);
  for (const { refused } of results) expect(refused).toBeGreaterThan(0);
  const names = fixture.directory.list().slice(1);
  expect(names.map(({ name }) => name)).toEqual(results.flatMap(({ own }) => own).sort());
  expect(readdirSync(join(fixture.home, 'profiles/.trash'))).toEqual([]);
}, 30_000);
