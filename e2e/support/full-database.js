/**
 * Loaded into a service before it begins (`NODE_OPTIONS=--require`): while the file `FULL_DATABASE` is there, the group
 * database cannot grow, as on a full disk.
 */
const { existsSync } = require('node:fs');
const Sqlite = require('better-sqlite3');

const NO_LIMIT = 2 ** 32 - 2;

const { prepare } = Sqlite.prototype;
Sqlite.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  if (sql !== 'BEGIN IMMEDIATE' || !this.name.endsWith('profile-rooms.sqlite3')) return statement;
  const run = statement.run.bind(statement);
  statement.run = () => {
    // No less than there are: then it is what there are.
    this.pragma(`max_page_count = ${existsSync(process.env.FULL_DATABASE ?? '') ? 1 : NO_LIMIT}`);
    return run();
  };
  return statement;
};
