import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { lookAside, looksOf } from './look-aside';

let folder: string;
let file: string;
let writer: Sqlite.Database;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowly-look-'));
  file = join(folder, 'a.sqlite3');
  writer = new Sqlite(file);
  writer.pragma('journal_mode = WAL');
  writer.exec('CREATE TABLE notes(text TEXT)');
});
afterEach(() => {
  writer.close();
  rmSync(folder, { recursive: true });
});

const notes = (sqlite: Sqlite.Database) => sqlite.prepare('SELECT text FROM notes').pluck().all();

it('sees what is in the log of a writer, again and again', () => {
  for (const text of ['one', 'two', 'three']) {
    writer.prepare('INSERT INTO notes VALUES (?)').run(text);
    expect(lookAside(file, 5, notes).at(-1)).toBe(text);
  }
  writer.pragma('wal_checkpoint(TRUNCATE)');
  writer.prepare('INSERT INTO notes VALUES (?)').run('four');
  expect(lookAside(file, 5, notes)).toEqual(['one', 'two', 'three', 'four']);
});

it('writes nothing and leaves nothing, also when the look fails', () => {
  writer.close();
  const before = [looksOf(file), readdirSync(folder)];
  expect(() => lookAside(file, 5, (sqlite) => sqlite.exec('DELETE FROM notes'))).toThrow(
    /readonly/,
  );
  expect([looksOf(file), readdirSync(folder)]).toEqual(before);
});

it('takes away what a look of a dead process left, but not one that is under way', () => {
  const [old, young] = ['a.sqlite3.1.look', 'a.sqlite3.2.look'].map((name) => join(folder, name));
  for (const left of [old, young]) mkdirSync(left ?? '');
  utimesSync(old ?? '', 1, 1);
  lookAside(file, 5, notes);
  expect(readdirSync(folder).filter((name) => name.endsWith('.look'))).toEqual([
    'a.sqlite3.2.look',
  ]);
});

it('tells by its looks that a file was written, in its log too', () => {
  const before = looksOf(file);
  lookAside(file, 5, notes);
  expect(looksOf(file)).toBe(before);
  writer.exec("INSERT INTO notes VALUES ('x')");
  expect(looksOf(file)).not.toBe(before);
  expect(looksOf(join(folder, 'nowhere'))).toBe('none; none; none');
});
