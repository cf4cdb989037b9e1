import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { createDatabaseFile } from './new-file';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'flowly-new-file-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const build = (table: string) => (sqlite: Sqlite.Database) =>
  void sqlite.exec(`CREATE TABLE ${table}(x)`);

function tables(file: string): unknown[] {
  const sqlite = new Sqlite(file);
  const names = sqlite.prepare('SELECT name FROM sqlite_master').pluck().all();
  sqlite.close();
  return names;
}

it('makes the file and its folder, for the owner only, with nothing left beside it', () => {
  const file = join(folder, 'home', 'a.sqlite3');
  createDatabaseFile(file, build('mine'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'home')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, 'home'))).toEqual(['a.sqlite3']);
  expect(tables(file)).toEqual(['mine']);
});

it('makes nothing when building fails', () => {
  const fails = () =>
    createDatabaseFile(join(folder, 'a.sqlite3'), () => {
      throw new Error('no');
    });
  expect(fails).toThrow('no');
  expect(readdirSync(folder)).toEqual([]);
});

it('uses the file of the other that was faster', () => {
  const file = join(folder, 'a.sqlite3');
  createDatabaseFile(file, (sqlite) => {
    createDatabaseFile(file, build('winner'));
    build('loser')(sqlite);
  });
  expect(tables(file)).toEqual(['winner']);
});
