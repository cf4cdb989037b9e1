import { ContractError } from '@flowly/contract';
import type { Database } from '@flowly/store';

/**
 * One change of the bots' files: read, changed and renamed under the lock of the installation, a
 * `BEGIN IMMEDIATE` on `host.sqlite3` that is free when its holder dies (bots.md §1). The work is
 * synchronous and ends by storing the command's outcome in the same transaction.
 * @throws ContractError what `work` refuses with, else `PROFILE_OPERATION_FAILED`
 */
export async function underLock<T>(host: Database, work: () => T): Promise<T> {
  try {
    return await host.write(work);
  } catch (cause) {
    if (cause instanceof ContractError) throw cause;
    throw new ContractError(
      'PROFILE_OPERATION_FAILED',
      'The files of the bot could not be changed.',
      { cause },
    );
  }
}
