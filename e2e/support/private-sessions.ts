import Database from 'better-sqlite3';
import path from 'node:path';

/** The database of a bot. */
function botDatabase(home: string, bot: string): string {
  const folder = bot === 'default' ? home : path.join(home, 'profiles', bot);
  return path.join(folder, 'bot.sqlite3');
}

/** The groups that have a private session at a bot, read while the services run. */
export function privateSessions(home: string, bot: string): string[] {
  const database = new Database(botDatabase(home, bot), { readonly: true });
  try {
    return database
      .prepare("SELECT substr(key, 22) FROM sessions WHERE key LIKE 'desktop:profile-room:%'")
      .pluck()
      .all()
      .map(String);
  } finally {
    database.close();
  }
}

/** A private session as a lost file or another program leaves it. */
export function leaveSession(home: string, bot: string, groupId: string): void {
  const database = new Database(botDatabase(home, bot));
  try {
    database
      .prepare('INSERT INTO sessions(key, created_at, updated_at) VALUES (?, 1, 1)')
      .run(`desktop:profile-room:${groupId}`);
  } finally {
    database.close();
  }
}
