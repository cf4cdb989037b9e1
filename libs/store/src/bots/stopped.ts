import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ContractError } from '@flowly/contract';
import { Database } from '../core/database';
import { BOT_DATABASE } from './bot-store';
import { readSetting, saveSetting } from './settings';

/** The owner's stop (bots.md §2): it stands, in every process, until the bot is connected again. */
const STOPPED = 'stopped';
/** Stops that were asked for and wait until the bot's groups are stopped. */
const STOPPING = 'stopping';

export function isStopped(database: Database): boolean {
  return readSetting(database, STOPPED) === true;
}

/** Only inside `database.write`. */
export function saveStopped(database: Database, stopped: boolean): void {
  saveSetting(database, STOPPED, stopped);
}

/** @throws ContractError PROFILE_STOPPED */
export function assertNotStopped(database: Database): void {
  if (isStopped(database)) throw stoppedByOwner();
}

export function stoppedByOwner(): ContractError {
  return new ContractError('PROFILE_STOPPED', STOPPED_TEXT);
}

/** For a reader. */
export const STOPPED_TEXT = 'This bot was stopped by its owner. Connect it to use it again.';

/**
 * Whether the owner's stop of the bot in this folder stands, for a process that does not keep its database open.
 * @throws when the database cannot be read
 */
export function isStoppedAt(folder: string): boolean {
  return readAt(folder, isStopped);
}

/**
 * Whether this stop of the bot in this folder still waits for its groups, likewise.
 * @throws when the database cannot be read
 */
export function isStopPendingAt(folder: string, commandId: string): boolean {
  return readAt(folder, (database) =>
    pendingStops(database).some(({ command }) => command.id === commandId),
  );
}

/** What a look into the database says; false where there is none. */
function readAt(folder: string, look: (database: Database) => boolean): boolean {
  const file = join(folder, BOT_DATABASE);
  if (!existsSync(file)) return false;
  const code = 'PROFILE_OPERATION_FAILED';
  const codes = { busyCode: code, failedCode: code, fullCode: code } as const;
  const database = Database.open({ file, id: '', busyMs: 0, ...codes });
  try {
    return look(database);
  } finally {
    database.close();
  }
}

const pendingSchema = z.array(
  z.object({
    /** The call that is answered when it is done. */
    command: z.object({ id: z.string(), gateway: z.string() }),
    /** When its groups were last ordered to be stopped, in Unix ms. */
    givenAt: z.number(),
  }),
);
export type PendingStop = z.infer<typeof pendingSchema>[number];

export function pendingStops(database: Database): PendingStop[] {
  return pendingSchema.parse(readSetting(database, STOPPING) ?? []);
}

/** Adds a stop, or notes that its groups are ordered to be stopped again. Only inside `database.write`. */
export function savePendingStop(database: Database, stop: PendingStop): void {
  saveSetting(database, STOPPING, [...pendingBut(database, stop.command.id), stop]);
}

/** The stop is done. Only inside `database.write`. */
export function removePendingStop(database: Database, commandId: string): void {
  saveSetting(database, STOPPING, pendingBut(database, commandId));
}

/** Nobody waits for the stops of a copy that is put back. Only inside `database.write`. */
export function forgetPendingStops(database: Database): void {
  database.run('DELETE FROM settings WHERE key = ?', STOPPING);
}

function pendingBut(database: Database, commandId: string): PendingStop[] {
  return pendingStops(database).filter(({ command }) => command.id !== commandId);
}
