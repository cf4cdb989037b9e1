import Database from 'better-sqlite3';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { groupDatabase } from './group-database';

/**
 * A data folder with little room, which a test can use up: a file system of its own, in memory. Where none may be
 * mounted, the services are loaded with `full-database.js`, and only the group database can become full.
 */
export class SmallDisk {
  readonly home: string;
  /** Environment of the services. */
  readonly env: NodeJS.ProcessEnv = {};
  private readonly folder = mkdtempSync(path.join(os.tmpdir(), 'flowly-disk-'));
  private readonly isMounted: boolean;

  constructor(mebibytes: number) {
    this.isMounted = isDone(
      'mount',
      '-t',
      'tmpfs',
      '-o',
      `size=${mebibytes}m`,
      'tmpfs',
      this.folder,
    );
    this.home = path.join(this.folder, 'home');
    mkdirSync(this.home, { mode: 0o700 });
    if (this.isMounted) return;
    const hook = path.join(__dirname, 'full-database.js');
    this.env = { NODE_OPTIONS: `--require ${hook}`, FULL_DATABASE: this.ballast };
  }

  /** From now on there is no room. */
  fill(): void {
    // What the log has room for already could still be written.
    const database = new Database(groupDatabase(this.home));
    database.pragma('wal_checkpoint(TRUNCATE)');
    database.close();
    if (this.isMounted) writeAsMuchAsFits(this.ballast);
    else writeFileSync(this.ballast, '');
  }

  /** There is room again. */
  free(): void {
    rmSync(this.ballast, { force: true });
  }

  remove(): void {
    if (this.isMounted) isDone('umount', this.folder);
    rmSync(this.folder, { recursive: true });
  }

  private get ballast(): string {
    return path.join(this.folder, 'ballast');
  }
}

function isDone(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function writeAsMuchAsFits(file: string): void {
  const handle = openSync(file, 'w');
  try {
    for (const size of [2 ** 20, 2 ** 12]) while (fits(handle, size));
  } finally {
    closeSync(handle);
  }
}

function fits(handle: number, size: number): boolean {
  try {
    return writeSync(handle, Buffer.alloc(size)) === size;
  } catch {
    return false;
  }
}
