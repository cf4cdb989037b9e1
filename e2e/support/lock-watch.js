/**
 * Loaded into a service before it begins (`NODE_OPTIONS=--require`): writes into the folder `LOCK_WATCH` how the service
 * came to the lock of the group database. Times are in ms, without those it had to wait for a processor.
 */
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const Sqlite = require('better-sqlite3');

const SCHEDULE = '/proc/self/schedstat';
const file = path.join(process.env.LOCK_WATCH ?? '.', `${process.pid}.json`);
const figures = { tries: 0, refused: 0, longestTryMs: 0, longestWaitMs: 0 };
/** Since when the lock is wanted and not had. */
let wantedAt = null;

const { prepare } = Sqlite.prototype;
Sqlite.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  if (sql === 'BEGIN IMMEDIATE' && this.name.endsWith('profile-rooms.sqlite3')) watch(statement);
  return statement;
};
setInterval(() => writeFileSync(file, JSON.stringify(figures)), 250).unref();

function watch(statement) {
  const run = statement.run.bind(statement);
  statement.run = () => {
    const began = performance.now() - starved();
    wantedAt ??= performance.now();
    figures.tries++;
    try {
      const outcome = run();
      longest('longestWaitMs', performance.now() - wantedAt);
      wantedAt = null;
      return outcome;
    } catch (error) {
      figures.refused++;
      throw error;
    } finally {
      longest('longestTryMs', performance.now() - starved() - began);
    }
  };
}

function longest(name, ms) {
  figures[name] = Math.max(figures[name], ms);
}

function starved() {
  return existsSync(SCHEDULE) ? Number(readFileSync(SCHEDULE, 'utf8').split(' ')[1]) / 1e6 : 0;
}
