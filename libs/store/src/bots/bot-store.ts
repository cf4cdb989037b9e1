import { join } from 'node:path';
import { COMMANDS_DDL } from '../core/commands';
import type { Database } from '../core/database';
import { createOwnDatabase, openOwnDatabase, type OwnFormat } from '../core/own-format';
import { OUTBOX_DDL } from '../core/outbox';
import { readGeneration } from './generation';
import { REQUESTS_DDL } from './requests';

export const BOT_DATABASE = 'bot.sqlite3';

/**
 * One database a bot. `messages.id` is the event id of a message and its place in the history;
 * `runs` are the receipts of `chat.send` and the steps of groups, `seq` the order of acceptance.
 * Receipts outlive their session, so they refer to none.
 */
const FIRST = `
CREATE TABLE sessions(
  key TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  title TEXT,
  model_override TEXT,
  last_assistant_run_id TEXT,
  last_assistant_at INTEGER,
  size_bytes INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX sessions_newest_idx ON sessions(updated_at, key);

CREATE TABLE messages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_key TEXT NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  run_id TEXT,
  role TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at INTEGER NOT NULL);
CREATE INDEX messages_session_idx ON messages(session_key, id);

CREATE TABLE runs(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL UNIQUE,
  session_key TEXT NOT NULL,
  state TEXT NOT NULL,
  origin TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  params TEXT NOT NULL,
  step TEXT,
  accepted_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  epoch INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  alive_until INTEGER,
  abort_requested INTEGER NOT NULL DEFAULT 0,
  side_effects INTEGER NOT NULL DEFAULT 0,
  text_sent INTEGER NOT NULL DEFAULT 0,
  outcome TEXT);
CREATE UNIQUE INDEX runs_one_running_idx ON runs(session_key) WHERE state = 'running';
CREATE INDEX runs_open_idx ON runs(session_key, seq) WHERE state IN ('accepted', 'running');

CREATE TABLE aborts(run_id TEXT PRIMARY KEY, session_key TEXT, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
${OUTBOX_DDL};
${COMMANDS_DDL};
`;

const BOT_FORMAT: OwnFormat = {
  applicationId: 0x464c5942, // "FLYB"
  steps: [FIRST, REQUESTS_DDL],
};

/** Makes the database of a bot that is being made. */
export function createBotStore(folder: string): void {
  createOwnDatabase(BOT_FORMAT, join(folder, BOT_DATABASE));
}

/**
 * Opens `bot.sqlite3` of a bot's folder, made when it is missing. Its outbox is known as `bot:<botId>`, that of a copy
 * that took its place by a name of its own (`copy-bot-store.ts`).
 * @param options.busyMs how long a writer waits for others, in ms
 */
export async function openBotStore(options: {
  folder: string;
  botId: string;
  busyMs: number;
}): Promise<Database> {
  const database = await openOwnDatabase(BOT_FORMAT, {
    file: join(options.folder, BOT_DATABASE),
    id: `bot:${options.botId}`,
    busyMs: options.busyMs,
    busyCode: 'PROFILE_OPERATION_FAILED',
    failedCode: 'PROFILE_OPERATION_FAILED',
    fullCode: 'PROFILE_OPERATION_FAILED',
  });
  const generation = readGeneration(database);
  if (generation !== null) database.beginOutboxOf(generation);
  return database;
}
