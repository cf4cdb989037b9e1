import Database from 'better-sqlite3';
import path from 'node:path';

/** The group database of a data folder, read while the services run. */
export function groupDatabase(home: string): string {
  return path.join(home, 'profile-rooms.sqlite3');
}

/** One value of the group database. */
export function readGroupValue(home: string, sql: string, ...bound: unknown[]): unknown {
  const database = new Database(groupDatabase(home), { readonly: true });
  try {
    return database
      .prepare(sql)
      .pluck()
      .get(...bound);
  } finally {
    database.close();
  }
}

/** How many messages of the live window each member has been given (store.md §1). */
export function watermarksOf(home: string, groupId: string): unknown {
  const json = readGroupValue(home, 'SELECT watermarks_json FROM rooms WHERE id = ?', groupId);
  return JSON.parse(String(json));
}
