import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Database } from '../core/database';

/** How long others may hold the file before the reclaim is left to a later start. */
const PATIENCE_MS = 5_000;

/**
 * One value: whether the file is worth being made smaller now (store.md §5). A quarter of it and 4 MiB are free, no run
 * is going, and nobody has done it in the last 30 days; a `last_vacuum` that is no time, or one to come, counts as never.
 */
const IS_DUE = `
SELECT page_size * freelist_count >= 4194304 AND freelist_count * 4 >= page_count
  AND NOT EXISTS (SELECT 1 FROM rooms
    WHERE iif(json_valid(run_json), json_extract(run_json, '$.state'), NULL) = 'running')
  AND NOT EXISTS (SELECT 1 FROM room_store_meta WHERE key = 'last_vacuum'
    AND CAST(value AS REAL) BETWEEN unixepoch('subsec') - 2592000 AND unixepoch('subsec')) AS due
FROM pragma_page_size, pragma_page_count, pragma_freelist_count`;

/**
 * Of several processes that start at once the first does it. One that died meanwhile keeps the others from it for ten
 * minutes.
 */
const CLAIM = `
INSERT INTO ext_meta(key, value) SELECT 'reclaim', CAST(unixepoch('subsec') AS TEXT) FROM (${IS_DUE})
  WHERE due AND NOT EXISTS (SELECT 1 FROM ext_meta WHERE key = 'reclaim'
    AND CAST(value AS REAL) BETWEEN unixepoch('subsec') - 600 AND unixepoch('subsec'))
  ON CONFLICT(key) DO UPDATE SET value = excluded.value`;
const GIVE_BACK = "DELETE FROM ext_meta WHERE key = 'reclaim'";

/** Counts no `revision` up: nothing that is stored changes. */
const NOTE = `
BEGIN IMMEDIATE;
INSERT INTO room_store_meta(key, value) VALUES ('last_vacuum', CAST(unixepoch('subsec') AS TEXT))
  ON CONFLICT(key) DO UPDATE SET value = excluded.value;
${GIVE_BACK};
COMMIT`;

/**
 * Runs in a thread of its own, as text, so that it needs no file beside the bundled service. Whether it is due is read
 * again before each attempt: somebody may have begun a run while this one waited.
 */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { driver, file, isDue, claim, giveBack, note, until } = workerData;
const database = new (require(driver))(file, { fileMustExist: true, timeout: 5 });
const pause = new Int32Array(new SharedArrayBuffer(4));

function whenFree(work) {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!String(error.code).startsWith('SQLITE_BUSY') || Date.now() > until) throw error;
      Atomics.wait(pause, 0, 0, 20);
    }
  }
}

function vacuum() {
  if (database.prepare(isDue).pluck().get() !== 1) return false;
  database.exec('VACUUM');
  return true;
}

function reclaim() {
  let done = false;
  try {
    done = whenFree(vacuum);
  } finally {
    database.pragma('busy_timeout = 5000');
    database.exec(done ? note : giveBack);
  }
  if (done) database.pragma('wal_checkpoint(TRUNCATE)');
  return done;
}

const isClaimed = whenFree(() => database.prepare(claim).run().changes === 1);
const done = isClaimed && reclaim();
database.close();
parentPort.postMessage(done);
`;

const dueSchema = z.object({ due: z.number() });

/**
 * Gives the disk back what deleted groups have left in the file, if that is worth it. It takes seconds for a large
 * file, in which other processes cannot write, so it is for the start, before this process takes work.
 * @returns whether it was done
 * @throws SqliteError when the file is held for too long or the disk has no room; nothing is changed then
 */
export async function reclaimSpace(database: Database, patienceMs = PATIENCE_MS): Promise<boolean> {
  const { due } = dueSchema.parse(database.get(IS_DUE));
  if (due !== 1) return false;
  const thread = new Worker(THREAD, {
    eval: true,
    workerData: {
      driver: require.resolve('better-sqlite3'),
      file: database.file,
      isDue: IS_DUE,
      claim: CLAIM,
      giveBack: GIVE_BACK,
      note: NOTE,
      until: Date.now() + patienceMs,
    },
  });
  const ended = once(thread, 'exit');
  const [done]: unknown[] = await Promise.race([once(thread, 'message'), ended]);
  await ended;
  return done === true;
}
