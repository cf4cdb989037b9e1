import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { ChildPrograms } from './child-programs';
import { type GroupFixture, groupFixture } from './group-fixture';

/**
 * One of several processes that write the same groups as fast as they can, many transactions at once. Tells of each
 * try to get the lock how long it stood still, and of each transaction how long it took.
 */
const PROGRAM = `
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { openGroupStore } from './open';
// How long this process had to wait for a processor, in ms: no lock is to blame for that.
const SCHEDULE = '/proc/self/schedstat';
const starved = () => (existsSync(SCHEDULE) ? Number(readFileSync(SCHEDULE, 'utf8').split(' ')[1]) / 1e6 : 0);
const [home, name, writers, count, ...groupIds] = process.argv.slice(2);
void (async () => {
  const store = await openGroupStore({ home, busyMs: 5_000 });
  const run = store.database.run.bind(store.database);
  let [tries, refused, longestTryMs, longestMs] = [0, 0, 0, 0];
  store.database.run = (sql, ...params) => {
    if (sql !== 'BEGIN IMMEDIATE') return run(sql, ...params);
    const began = performance.now() - starved();
    tries++;
    try {
      return run(sql);
    } catch (error) {
      refused++;
      throw error;
    } finally {
      longestTryMs = Math.max(longestTryMs, performance.now() - starved() - began);
    }
  };
  const write = async (writer) => {
    for (let n = 0; n < Number(count); n++) {
      const groupId = groupIds[(writer + n) % groupIds.length];
      const began = performance.now();
      await store.transaction((groups) => {
        const message = { id: randomUUID(), role: 'user', content: [name, writer, n].join('-'), createdAt: 'now' };
        groups.updateGroup(groups.appendMessage(groups.findGroup(groupId), message).group);
      });
      longestMs = Math.max(longestMs, performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(writer)));
  store.close();
  console.log(JSON.stringify({ tries, refused, longestTryMs, longestMs }));
})();
`;
const figuresSchema = z.object({
  tries: z.number(),
  refused: z.number(),
  longestTryMs: z.number(),
  longestMs: z.number(),
});

const NAMES = ['a', 'b', 'c'];
const WRITERS = 6;
const COUNT = 40;

let fixture: GroupFixture;
let programs: ChildPrograms;
beforeEach(async () => {
  fixture = await groupFixture(5_000);
  programs = new ChildPrograms(PROGRAM, join(fixture.home, 'program.cjs'));
});
afterEach(async () => {
  await programs.end();
  fixture.end();
});

it('three processes in each other’s way lose nothing, do nothing twice, and none stands still', async () => {
  const ids = [(await fixture.insert()).id, (await fixture.insert()).id];
  const args = (name: string) => [fixture.home, name, String(WRITERS), String(COUNT), ...ids];
  const running = NAMES.map((name) => programs.run(...args(name)));
  let isOver = false;
  const figures = Promise.all(running).finally(() => (isOver = true));
  // Somebody who holds the lock far longer than any of them does.
  while (!isOver) {
    holdLock(150);
    await sleep(100);
  }
  const all = (await figures).map((said) => figuresSchema.parse(JSON.parse(said)));
  expect(all.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0);
  for (const { longestTryMs, longestMs } of all) {
    expect(longestTryMs).toBeLessThan(50);
    expect(longestMs).toBeLessThan(5_000);
  }
  const wanted = NAMES.flatMap((name) =>
    Array.from({ length: WRITERS * COUNT }, (_, index) => {
      return `${name}-${Math.floor(index / COUNT)}-${index % COUNT}`;
    }),
  );
  const pages = await fixture.store.read((groups) =>
    ids.map((id) => groups.historyPage(id, null, 10_000)),
  );
  const contents = pages.flatMap(({ messages }) => messages.map(({ content }) => content));
  expect(contents.sort()).toEqual(wanted.sort());
  for (const { messages, total } of pages) {
    expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => index));
    expect(total).toBe(messages.length);
  }
  expect(fixture.store.revision()).toBe(2 + wanted.length);
}, 60_000);

/** Blocks this process, which waits for the others anyway. */
function holdLock(ms: number): void {
  const sqlite = new Sqlite(fixture.file, { timeout: 5_000 });
  sqlite.exec('BEGIN IMMEDIATE');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  sqlite.exec('ROLLBACK');
  sqlite.close();
}
