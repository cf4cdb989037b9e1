import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOwnDatabase, type OwnFormat } from './own-format';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-format-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const STEPS = ['CREATE TABLE notes(text TEXT)', 'ALTER TABLE notes ADD COLUMN at INTEGER'];
const format = (steps: readonly string[]): OwnFormat => ({ applicationId: 7, steps });
const open = (steps: readonly string[], applicationId = 7) =>
  openOwnDatabase(
    { ...format(steps), applicationId },
    {
      file: join(folder, 'own.sqlite3'),
      id: 'own',
      busyMs: 2_000,
      busyCode: 'PROFILE_OPERATION_FAILED',
      failedCode: 'PROFILE_OPERATION_FAILED',
      fullCode: 'PROFILE_OPERATION_FAILED',
    },
  );

it('brings an older file forward once, also when several open it', async () => {
  const old = await open(STEPS.slice(0, 1));
  old.run('INSERT INTO notes(text) VALUES (?)', 'kept');
  old.close();
  const opened = await Promise.all([open(STEPS), open(STEPS), open(STEPS)]);
  for (const database of opened) {
    expect(database.pragma('user_version')).toBe(2);
    expect(database.all('SELECT text, at FROM notes')).toEqual([{ text: 'kept', at: null }]);
    database.close();
  }
});

it('refuses a newer file and one of another program', async () => {
  (await open(STEPS)).close();
  const refused = { code: 'PROFILE_OPERATION_FAILED', retryable: false };
  await expect(open(STEPS.slice(0, 1))).rejects.toMatchObject(refused);
  await expect(open(STEPS, 8)).rejects.toMatchObject(refused);
});
