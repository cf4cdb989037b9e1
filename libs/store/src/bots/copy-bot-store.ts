import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ContractError, isInternalSession } from '@flowly/contract';
import { z } from 'zod';
import { sqliteCode } from '../core/busy';
import type { Database } from '../core/database';
import { BOT_DATABASE, openBotStore } from './bot-store';
import { forgetDeletion } from './deleting';
import { beginGeneration } from './generation';
import { forgetPendingStops } from './stopped';

const BUSY_MS = 5_000;

/**
 * Copies a bot's database, with what is still in its log, into one new file (0600); one moment of it, whoever writes.
 * It stops the event loop while it works. False when the bot has none yet.
 * @throws ContractError `PROFILE_OPERATION_FAILED` when it is damaged or cannot be read
 */
export function copyBotStore(folder: string, copy: string): boolean {
  const file = join(folder, BOT_DATABASE);
  if (!existsSync(file)) return false;
  closeSync(openSync(copy, 'wx', 0o600));
  try {
    const sqlite = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    try {
      // A copy is made of the rows alone, and would hide a damage.
      if (sqlite.pragma('quick_check(1)', { simple: true }) !== 'ok') throw damaged();
      sqlite.prepare('VACUUM INTO ?').run(copy);
    } finally {
      sqlite.close();
    }
  } catch (error) {
    throw sqliteCode(error) === null ? error : damaged(error);
  }
  return true;
}

/**
 * Makes a copied database fit for a bot that is about to be there, made empty where there is none: what was still to
 * be told belongs to the life before, and its outbox begins anew. As the database of *another* bot it keeps the
 * conversations alone: receipts, runs that were going, requests, the private sessions of groups, permissions and the
 * owner's stop are the first one's.
 * @throws ContractError `PROFILE_OPERATION_FAILED` when it is damaged, or no database of a bot
 */
export async function settleBotStore(
  folder: string,
  { botId, isAnother }: { botId: string; isAnother: boolean },
): Promise<void> {
  const database = await opened(folder, botId);
  try {
    if (database.pragma('quick_check(1)') !== 'ok') throw damaged();
    await database.write(() => {
      database.exec('DELETE FROM ext_outbox; DELETE FROM ext_commands');
      forgetDeletion(database);
      forgetPendingStops(database);
      if (isAnother) forgetOwner(database);
      beginGeneration(database);
    });
  } finally {
    database.close();
  }
}

async function opened(folder: string, botId: string): Promise<Database> {
  try {
    return await openBotStore({ folder, botId, busyMs: BUSY_MS });
  } catch (error) {
    throw sqliteCode(error) === null ? error : damaged(error);
  }
}

const keySchema = z.object({ key: z.string() });

function forgetOwner(database: Database): void {
  for (const table of ['runs', 'aborts', 'requests', 'settings']) {
    database.run(`DELETE FROM ${table}`);
  }
  for (const row of database.all('SELECT key FROM sessions')) {
    const { key } = keySchema.parse(row);
    if (isInternalSession(key)) database.run('DELETE FROM sessions WHERE key = ?', key);
  }
}

function damaged(cause?: unknown): ContractError {
  return new ContractError('PROFILE_OPERATION_FAILED', "The bot's database is damaged or none.", {
    retryable: false,
    cause,
  });
}
