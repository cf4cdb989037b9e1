import { statSync } from 'node:fs';
import { AT, groupFixture, newGroup, type GroupFixture } from './group-fixture';
import { openGroupStore } from './open';
import { reclaimSpace } from './reclaim';

let fixture: GroupFixture;
beforeEach(async () => void (fixture = await groupFixture()));
afterEach(() => fixture.end());

const DAY_S = 86_400;
const nowS = () => Date.now() / 1_000;
const size = () => statSync(fixture.file).size;
const reclaim = () => reclaimSpace(fixture.store.database);
const lastVacuum = () =>
  fixture.other((sqlite) =>
    sqlite.prepare("SELECT value FROM room_store_meta WHERE key = 'last_vacuum'").pluck().get(),
  );
const setLastVacuum = (value: string) =>
  fixture.other((sqlite) =>
    sqlite
      .prepare("INSERT OR REPLACE INTO room_store_meta(key, value) VALUES ('last_vacuum', ?)")
      .run(value),
  );

/** A group with so many messages of 4,000 characters, as another program writes them. */
async function fill(messages: number): Promise<string> {
  const { id } = await fixture.insert();
  fixture.other((sqlite) => {
    sqlite
      .prepare(
        `WITH RECURSIVE n(seq) AS (SELECT 0 UNION ALL SELECT seq + 1 FROM n WHERE seq < ? - 1)
        INSERT INTO room_messages(room_id, seq, message_id, payload_json)
        SELECT ?, seq, 'm' || seq, json_object('id', 'm' || seq, 'role', 'user', 'createdAt', ?,
          'content', printf('%.*c', 4000, 'x')) FROM n`,
      )
      .run(messages, id, AT);
    sqlite.exec("UPDATE room_store_meta SET value = value + 1 WHERE key = 'revision'");
  });
  return id;
}

const remove = (id: string) => fixture.store.transaction((groups) => groups.deleteGroup(id));

it('makes the file smaller, says when, and changes nothing that is stored', async () => {
  const kept = await fill(150);
  await remove(await fill(1_100));
  await fixture.append(kept, { content: 'newest' });
  const revision = fixture.store.revision();
  fixture.other((sqlite) => sqlite.pragma('wal_checkpoint(TRUNCATE)'));
  const before = size();

  expect(await reclaim()).toBe(true);
  expect(before - size()).toBeGreaterThan(4_000_000);
  expect(Number(lastVacuum())).toBeGreaterThan(nowS() - 60);
  expect(Number(lastVacuum())).toBeLessThanOrEqual(nowS());
  expect(fixture.store.revision()).toBe(revision);
  const page = await fixture.store.read((groups) => groups.historyPage(kept, null, 1_000));
  expect(page.total).toBe(151);
  expect(page.messages.at(-1)?.content).toBe('newest');
  await fixture.append(kept, { content: 'after' });
  await fixture.reopen();
  expect((await fixture.find(kept)).total).toBe(152);
});

it('at most every 30 days; what is no time, or one to come, counts as never', async () => {
  const due = async (value: string) => {
    setLastVacuum(value);
    await remove(await fill(1_100));
    return reclaim();
  };
  expect(await due(String(nowS() - 30 * DAY_S + 600))).toBe(false);
  expect(await due(String(nowS() - 30 * DAY_S - 60))).toBe(true);
  expect(await due('soon')).toBe(true);
  expect(await due(String(nowS() + DAY_S))).toBe(true);
  expect(await due('inf')).toBe(true);
});

it('not for less than 4 MiB, nor for less than a quarter', async () => {
  await remove(await fill(700));
  expect(await reclaim()).toBe(false);
  await fill(3_600);
  await remove(await fill(1_100));
  const free = fixture.other((sqlite) => sqlite.pragma('freelist_count', { simple: true }));
  expect(Number(free) * 4_096).toBeGreaterThan(4_194_304);
  expect(await reclaim()).toBe(false);
  expect(lastVacuum()).toBeUndefined();
});

it('not while a run is going', async () => {
  await remove(await fill(1_100));
  const { id } = await fixture.store.transaction((groups) => groups.insertGroup(newGroup()));
  const setRun = (run: string) =>
    fixture.other((sqlite) =>
      sqlite.prepare('UPDATE rooms SET run_json = ? WHERE id = ?').run(run, id),
    );
  setRun('{"state":"running"}');
  expect(await reclaim()).toBe(false);
  setRun('{"state":"completed"}');
  expect(await reclaim()).toBe(true);
});

it('two processes that start at once do it once', async () => {
  await remove(await fill(1_100));
  const other = await openGroupStore({ home: fixture.home, busyMs: 5_000 });
  const done = await Promise.all([reclaim(), reclaimSpace(other.database)]);
  other.close();
  expect(done.sort()).toEqual([false, true]);
});

it('not while another process is at it, unless that has died', async () => {
  await remove(await fill(1_100));
  const claim = (seconds: number) =>
    fixture.other((sqlite) =>
      sqlite
        .prepare("INSERT OR REPLACE INTO ext_meta(key, value) VALUES ('reclaim', ?)")
        .run(String(seconds)),
    );
  claim(nowS() - 60);
  expect(await reclaim()).toBe(false);
  claim(nowS() - 700);
  expect(await reclaim()).toBe(true);
  const claims = "SELECT count(*) FROM ext_meta WHERE key = 'reclaim'";
  expect(fixture.other((sqlite) => sqlite.prepare(claims).pluck().get())).toBe(0);
});

it('gives up in time when another writes, and changes nothing', async () => {
  await remove(await fill(1_100));
  const other = await openGroupStore({ home: fixture.home, busyMs: 5_000 });
  other.database.exec('BEGIN IMMEDIATE');
  const outcome = reclaimSpace(fixture.store.database, 50);
  await expect(outcome).rejects.toMatchObject({ code: expect.stringMatching(/^SQLITE_BUSY/) });
  other.database.exec('ROLLBACK');
  other.close();
  expect(lastVacuum()).toBeUndefined();
  expect(await reclaim()).toBe(true);
});
