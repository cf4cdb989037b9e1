import Database from 'better-sqlite3';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { ServiceInstance } from '@flowly/testing';

/**
 * Freezes a process at a moment when it holds no lock of a database: one that is frozen in the middle of
 * a commit stops every writer, which no takeover can mend.
 */
export function freeze(instance: ServiceInstance, home: string): void {
  for (let attempt = 0; attempt < 50; attempt++) {
    instance.pause();
    if (databasesOf(home).every(isFree)) return;
    instance.resume();
  }
  throw new Error(`${instance.label} holds a lock all the time`);
}

function databasesOf(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sqlite3'))
    .map((name) => path.join(home, name));
}

function isFree(file: string): boolean {
  const database = new Database(file, { timeout: 100 });
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch (error) {
    // Also its kinds: a writer that recovers the log, a log that has moved on.
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return false;
    throw error;
  } finally {
    database.close();
  }
}
