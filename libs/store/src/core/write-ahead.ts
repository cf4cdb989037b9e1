import { ContractError } from '@flowly/contract';
import { BUSY, isBusy, whenFree } from './busy';
import type { Database, DatabaseOptions } from './database';

/**
 * Turns on the write-ahead log, which a file that another program made may lack. Nobody else may use the file in that
 * moment; waited for without blocking.
 * @throws ContractError `busyCode`; SqliteError
 */
export async function useWriteAheadLog(
  database: Database,
  { busyMs, busyCode }: Pick<DatabaseOptions, 'busyMs' | 'busyCode'>,
): Promise<void> {
  const outcome = await whenFree(Date.now() + busyMs, () => turnOn(database));
  if (outcome === BUSY) throw new ContractError(busyCode, 'Another process holds the store.');
}

function turnOn(database: Database): undefined | typeof BUSY {
  try {
    database.pragma('journal_mode = WAL');
    return undefined;
  } catch (error) {
    if (isBusy(error)) return BUSY;
    throw error;
  }
}
