import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';

jest.setTimeout(20_000);

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'flowly-restore-'));
  makeGroups('old', 'Kept');
  makeGroups('profile-rooms.sqlite3', 'Newer');
});
afterEach(() => rmSync(home, { recursive: true }));

/** A group database with one group of this title. */
function makeGroups(name: string, title: string): void {
  const database = new Database(path.join(home, name));
  database.exec(`
    PRAGMA application_id = ${0x464c5952}; PRAGMA user_version = 4;
    CREATE TABLE room_store_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE rooms(id TEXT PRIMARY KEY, title TEXT NOT NULL, mode TEXT NOT NULL, members_json TEXT NOT NULL,
      watermarks_json TEXT NOT NULL, run_json TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
      row_revision INTEGER NOT NULL, next_seq INTEGER NOT NULL DEFAULT 0, usage_json TEXT, member_policies_json TEXT)
      WITHOUT ROWID;
    CREATE TABLE room_messages(room_id TEXT NOT NULL REFERENCES rooms(id) ON DELETE CASCADE, seq INTEGER NOT NULL,
      message_id TEXT NOT NULL, payload_json TEXT NOT NULL, trimmed INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (room_id, seq), UNIQUE (room_id, message_id)) WITHOUT ROWID;
    CREATE INDEX room_messages_id_idx ON room_messages(message_id);
    CREATE INDEX room_messages_live_idx ON room_messages(room_id, trimmed, seq);
    INSERT INTO room_store_meta VALUES ('revision', '1');
    INSERT INTO rooms(id, title, mode, members_json, watermarks_json, created_at, updated_at, row_revision)
      VALUES ('g', '${title}', 'panel', '["default"]', '{}', 'now', 'now', 1)`);
  database.close();
}

function titleIn(name: string): unknown {
  const database = new Database(path.join(home, name), { readonly: true });
  try {
    return database.prepare('SELECT title FROM rooms').pluck().get();
  } finally {
    database.close();
  }
}

/** Runs the script as npm does, which was called in the data folder. */
async function run(name: 'backup' | 'restore', args: string[], env: Record<string, string> = {}) {
  const { REDIS_URL: _callers, ...inherited } = process.env;
  const child = spawn(process.execPath, [path.join(__dirname, `${name}.mjs`), ...args], {
    env: { ...inherited, FLOWLY_HOME: home, INIT_CWD: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'close');
  return { code, said: (await said).join('') };
}

/** As the scripts write down who holds a lock. */
function identityOfThisProcess(): string {
  const processes = pathToFileURL(path.join(__dirname, 'lib', 'processes.mjs')).href;
  const script = `import { identify } from '${processes}';
    console.log(JSON.stringify(identify(${process.pid})));`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
}

test('a backup goes where it was asked for, and back', async () => {
  expect(await run('backup', ['--to', 'made'])).toMatchObject({ code: 0 });
  expect(titleIn('made')).toBe('Newer');
  const restored = await run('restore', ['--from', 'old']);
  expect(restored).toEqual({ code: 0, said: expect.stringContaining('are kept in') });
  expect(titleIn('profile-rooms.sqlite3')).toBe('Kept');
  const kept = readdirSync(home).find((name) => name.includes('.before-'));
  expect(titleIn(kept ?? '')).toBe('Newer');
  expect(existsSync(path.join(home, 'start.lock'))).toBe(false);
  expect(await run('restore', ['--from', 'made'])).toMatchObject({ code: 0 });
  expect(titleIn('profile-rooms.sqlite3')).toBe('Newer');
});

test('a start that runs, or what a killed one left running, is in the way', async () => {
  const me = identityOfThisProcess();
  writeFileSync(path.join(home, 'start.lock'), me);
  expect(await run('restore', ['--from', 'old'])).toEqual({
    code: 1,
    said: expect.stringContaining(`(process ${process.pid})`),
  });
  rmSync(path.join(home, 'start.lock'));
  mkdirSync(path.join(home, 'run'));
  writeFileSync(path.join(home, 'run', 'bot-runner.json'), me);
  expect(await run('restore', ['--from', 'old'])).toEqual({
    code: 1,
    said: expect.stringContaining('(bot-runner)'),
  });
  expect(titleIn('profile-rooms.sqlite3')).toBe('Newer');
});

test('a Redis that is away is said, and hinders nothing', async () => {
  writeFileSync(path.join(home, 'profile-host.json'), '{"version":1,"hostId":"h"}');
  const { code, said } = await run('restore', ['--from', 'old'], {
    REDIS_URL: 'redis://:secret@127.0.0.1:1',
  });
  expect(said).toMatch(/The Redis of REDIS_URL does not answer/);
  expect(said).not.toContain('secret');
  expect(code).toBe(0);
  expect(titleIn('profile-rooms.sqlite3')).toBe('Kept');
});

test('what is missing or wrong is said in a line, without a stack', async () => {
  const runs = [
    run('restore', []),
    run('restore', ['--from', 'nothing']),
    run('backup', ['--into', 'made']),
    run('backup', ['--to', 'no/such/folder']),
  ];
  for (const { code, said } of await Promise.all(runs)) {
    expect(code).toBe(1);
    expect(said).not.toMatch(/\n +at /);
  }
  expect(await run('backup', ['--help'])).toEqual({
    code: 0,
    said: expect.stringContaining('--to FILE'),
  });
});
