import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const lockModule = pathToFileURL(path.join(__dirname, 'lock.mjs')).href;

/** Tries to lock the folder in a process of its own, which lives long enough to be seen by all. */
async function tryLock(home: string): Promise<string> {
  const script = `
    import { lockHome } from '${lockModule}';
    const lock = lockHome(process.argv[1]);
    console.log('release' in lock ? 'taken' : 'refused');
    if ('release' in lock) setTimeout(lock.release, 2000);`;
  const args = ['--input-type=module', '-e', script, home];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim();
}

let home: string;
beforeEach(() => (home = mkdtempSync(path.join(os.tmpdir(), 'flowly-lock-'))));
afterEach(() => rmSync(home, { recursive: true }));

test.each([
  ['no lock', undefined],
  ['a lock whose process has ended', { pid: 4_194_303, started: '1' }],
  ['a lock whose pid is now another process', { pid: process.pid, started: '1' }],
])('of six starts at once on %s, one takes it', async (_, stale) => {
  if (stale) writeFileSync(path.join(home, 'start.lock'), JSON.stringify(stale));
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => tryLock(home)));
  expect(outcomes.sort()).toEqual([...Array(5).fill('refused'), 'taken']);
  expect(readdirSync(home)).toEqual([]);
});
