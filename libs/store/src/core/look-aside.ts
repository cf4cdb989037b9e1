import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';

const FOLDER = '.look';
/** What belongs to the content of a database beside its file. */
const LOGS = ['-wal', '-journal'] as const;
/** Nobody looks for so long: what is older was left by a process that died. */
const LEFT_MS = 600_000;

/**
 * Reads a database file and leaves no trace beside it. Reading a write-ahead-logged file makes its log and index; here
 * the same bytes have a second name in a folder of their own, and what is made there goes with it.
 *
 * What is found is sure only if nobody wrote meanwhile, see {@link looksOf}.
 * @param timeoutMs how long a lock may stop the event loop
 * @throws SqliteError; an error of the file system; what `look` throws
 */
export function lookAside<T>(
  file: string,
  timeoutMs: number,
  look: (sqlite: Sqlite.Database) => T,
): T {
  removeLeft(file);
  const folder = `${file}.${randomUUID()}${FOLDER}`;
  const alias = join(folder, 'database');
  try {
    mkdirSync(folder, { mode: 0o700 });
    linkSync(file, alias);
    for (const log of LOGS) if (existsSync(file + log)) linkSync(file + log, alias + log);
    return lookInPlace(alias, timeoutMs, look);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As {@link lookAside}, for a file that somebody has open: its log and index are there. */
export function lookInPlace<T>(
  file: string,
  timeoutMs: number,
  look: (sqlite: Sqlite.Database) => T,
): T {
  const sqlite = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: timeoutMs });
  try {
    return look(sqlite);
  } finally {
    sqlite.close();
  }
}

/**
 * What a database and its logs look like from outside: another text means that it was written, replaced or given other
 * rights. Not the time of a new name: a look gives it one.
 */
export function looksOf(file: string): string {
  return ['', ...LOGS].map((suffix) => factsOf(file + suffix)).join('; ');
}

function factsOf(file: string): string {
  try {
    const { dev, ino, size, mtimeMs, mode, uid, gid } = statSync(file);
    return [dev, ino, size, mtimeMs, mode, uid, gid].join(' ');
  } catch {
    return 'none';
  }
}

function removeLeft(file: string): void {
  const folder = dirname(file);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(file)}.`) || !name.endsWith(FOLDER)) continue;
    const left = statSync(join(folder, name), { throwIfNoEntry: false });
    if (left && Date.now() - left.mtimeMs > LEFT_MS)
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}
