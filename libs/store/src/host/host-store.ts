import { join } from 'node:path';
import { COMMANDS_DDL } from '../core/commands';
import type { Database } from '../core/database';
import { openOwnDatabase, type OwnFormat } from '../core/own-format';
import { OUTBOX_DDL } from '../core/outbox';

const HOST_FORMAT: OwnFormat = {
  applicationId: 0x464c5948, // "FLYH"
  steps: [`${OUTBOX_DDL}; ${COMMANDS_DDL};`],
};

/**
 * Opens `host.sqlite3`, whose write lock is the lock of the installation's directory (bots.md §1):
 * a change of the bots' files runs inside one `write`, whose commit stores the command's outcome and
 * what follows from it after the files were renamed. Made when it is missing.
 * @param options.busyMs how long a change waits for others, in ms
 */
export function openHostStore(options: { home: string; busyMs: number }): Promise<Database> {
  return openOwnDatabase(HOST_FORMAT, {
    file: join(options.home, 'host.sqlite3'),
    id: 'host',
    busyMs: options.busyMs,
    busyCode: 'PROFILE_OPERATION_FAILED',
    failedCode: 'PROFILE_OPERATION_FAILED',
    fullCode: 'PROFILE_OPERATION_FAILED',
  });
}
